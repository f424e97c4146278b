import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { InputFilter } from "../../src/hooks/filters.ts";
import type { LoopOpening } from "../../src/store/transcript/loop.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { followUpSignal, promptUpdate, steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const KEY_SHAPE = "sk-aaaabbbbccccddddeeeeffff";

/** Every text that a filter received, with the filter's name. */
let asked: string[] = [];
/** The answers of `fickle`, call by call. */
let moods: ReturnType<InputFilter>[] = [];

const noted =
  (name: string, filter: InputFilter): InputFilter =>
  (text, signal) => {
    asked.push(`${name}: ${text}`);
    return filter(text, signal);
  };

const filters: Record<string, InputFilter> = {
  polite: noted("polite", (text) =>
    text.includes("stupid") ? { type: "warn", warning: "be kind" } : { type: "pass" },
  ),
  short: noted("short", async (text) =>
    text.length > 10 ? { type: "warn", warning: "too many words" } : { type: "pass" },
  ),
  moderation: noted("moderation", (text) =>
    text.includes("bomb") ? { type: "reject", reason: "nothing dangerous" } : { type: "pass" },
  ),
  refuses: noted("refuses", () => ({ type: "reject", reason: "never" })),
  throws: noted("throws", () => {
    throw new Error("out of order");
  }),
  talkative: () => ({ type: "reject", reason: `${KEY_SHAPE} ${"\u00e9".repeat(1000)}` }),
  fickle: noted("fickle", () => moods.shift() ?? { type: "pass" }),
};

/** The openings of these sessions are stored, and their first reply is lost. */
const forgetful = new Set<string>();

function losingAnswers(inner: Transcript): Transcript {
  return new Proxy(inner, {
    get: (target, name) => {
      if (name !== "openLoop") {
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async (opening: LoopOpening) => {
        const opened = await target.openLoop(opening);
        // Not a fault of the store: the step would wait for the store, and ask it again instead of the filters.
        if (forgetful.delete(opening.step.session)) throw new Error("The answer was lost.");
        return opened;
      };
    },
  });
}

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ filters, wrap: losingAnswers });
});
afterAll(() => stage.close());
beforeEach(() => {
  asked = [];
  moods = [];
});

const filtered = (...inputFilters: string[]) =>
  stage.session({ replies: [{ text: "Fine." }, { text: "Again." }], agent: { inputFilters } });

async function expectRejected(session: TestSession, reason: string): Promise<void> {
  expect(await session.readResult()).toMatchObject({ outcome: { type: "rejected", reason } });
  expect(session.listRequests()).toEqual([]);
  expect(await session.readEntries()).toEqual([]);
  const events = (await session.readEvents()).map(({ body }) => body);
  expect(events).toMatchObject([
    { type: "AgentStart" },
    { type: "InputRejected", reason },
    { type: "AgentEnd", from: 0, to: 0, rejection: reason, outcome: { type: "rejected", reason } },
  ]);
  const loops = await stage.transcript.readLoops(session.id);
  expect(loops).toMatchObject([{ status: "rejected", outcome: { type: "rejected", reason }, turns: 0 }]);
  expect(await stage.transcript.readSession(session.id)).toMatchObject({ status: "rejected" });
}

describe("the worker's filters by name", () => {
  test("are called in the definition's order, and a prompt that all accept is stored unchanged [FILT-01.1, FILT-02.2, FILT-05.1]", async () => {
    const session = filtered("moderation", "polite");
    expect(await session.run("Hello")).toMatchObject({ text: "Fine." });
    expect(asked).toEqual(["moderation: Hello", "polite: Hello"]);
    expect(session.listSeenMessages(0)).toEqual(["user: Hello"]);
  });

  thoroughTest("are not called when a definition names none [FILT-05.2]", async () => {
    expect(await filtered().run("a stupid bomb")).toMatchObject({ text: "Fine." });
    expect(asked).toEqual([]);
  });

  thoroughTest(
    "put their warnings after the prompt in one block of their own, in order [FILT-04.1-2, GAP-16.3]",
    async () => {
      const session = filtered("short", "polite");
      await session.run("What a stupid thing");
      const words = "What a stupid thing";
      const warnings = "[Warning: too many words]\n[Warning: be kind]";
      expect(session.listSeenMessages(0)).toEqual([`user: ${words}`, `user: ${warnings}`]);
      expect((await session.readEntries())[0]?.message).toMatchObject({
        content: [
          { type: "text", text: words },
          { type: "text", text: warnings },
        ],
      });
    },
  );

  test("reject a prompt: it does not join the conversation, and no model is called [FILT-03.2-3, EVT-07, TEST-06.7, SES-03.3]", async () => {
    const session = filtered("moderation");
    await session.start("Build a bomb");
    await expectRejected(session, "nothing dangerous");
  });

  thoroughTest("stop at the first rejection, which drops the warnings [FILT-03.1]", async () => {
    const session = filtered("polite", "moderation", "refuses");
    await session.start("stupid bomb");
    await expectRejected(session, "nothing dangerous");
    expect(asked).toEqual(["polite: stupid bomb", "moderation: stupid bomb"]);
  });

  thoroughTest("reject when they throw, and say so [FILT-01.3]", async () => {
    const session = filtered("throws");
    await session.start("Hello");
    await expectRejected(session, 'Input filter "throws" failed: out of order');
  });

  thoroughTest("give a reason that is bounded and contains no key", async () => {
    const session = filtered("talkative");
    await session.start("Hello");
    const { outcome } = await session.readResult();
    const reason = outcome.type === "rejected" ? outcome.reason : "";
    expect(reason).toMatch(/^\*\*\* é+\.\.\.$/);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(512);
  });

  thoroughTest(
    "with unknown names are an error that lists the worker's filters, before anything is written [FILT-05.3]",
    async () => {
      const session = filtered("polite", "moderatoin");
      await session.start("Hello");
      const { message, readResult } = await session.readFailure();
      expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "invalid" });
      expect(message).toContain('no input filter "moderatoin"');
      expect(message).toContain(Object.keys(filters).sort().join(", "));
      expect(asked).toEqual([]);
      expect(await stage.transcript.readLoops(session.id)).toEqual([]);
    },
  );

  thoroughTest(
    "leave steering in the inbox when the prompt is rejected, and check it when the next loop takes it [PHI-08.1, PHI-10.2, PHI-13b]",
    async () => {
      const session = filtered("moderation");
      const { args, ...options } = session.createStartRequest({ prompt: "Build a bomb" });
      await stage.client.workflow.signalWithStart("agent", {
        ...options,
        args,
        signal: steerSignal,
        signalArgs: [{ id: "s1", text: "a shelter, I mean" }],
      });
      await expectRejected(session, "nothing dangerous");
      expect(asked).toEqual(["moderation: Build a bomb"]);
      expect(await stage.transcript.readInbox(session.id)).toMatchObject([{ id: "s1" }]);
      await session.start("Build a shelter");
      expect(await session.readResult()).toMatchObject({ text: "Fine." });
      expect(asked.slice(1)).toEqual(["moderation: Build a shelter", "moderation: a shelter, I mean"]);
      expect(session.listSeenMessages(0)).toEqual(["user: a shelter, I mean", "user: Build a shelter"]);
      expect(await stage.transcript.readInbox(session.id)).toEqual([]);
    },
  );

  test("check the inbox when a loop takes it: a rejected message leaves it and is stored where no model sees it [PHI-08.1, PHI-10.2, PHI-13b]", async () => {
    const session = filtered("moderation", "polite");
    const leave = async (id: string, text: string) => {
      const { args: _, ...options } = session.createStartRequest();
      const message = { id, text };
      await stage.client.workflow.signalWithStart("agent", {
        ...options,
        args: [{}],
        signal: steerSignal,
        signalArgs: [message],
      });
      await session.readResult();
    };
    await leave("i1", "a bomb shelter, I mean");
    await leave("i2", "a stupid one");
    await session.start("Build a bomb");
    await expectRejected(session, "nothing dangerous");
    expect(await stage.transcript.readInbox(session.id)).toMatchObject([{ id: "i1" }, { id: "i2" }]);
    await session.start("Build a shelter");
    expect(await session.readResult()).toMatchObject({
      outcome: { type: "rejected", reason: "nothing dangerous" },
    });
    expect((await session.readEvents(1)).map(({ body }) => body)).toMatchObject([
      { type: "AgentStart" },
      { type: "InputRejected", position: 0 },
      { type: "AgentEnd", from: 0, to: 1 },
    ]);
    expect(session.listRequests()).toEqual([]);
    expect(await stage.transcript.readInbox(session.id)).toMatchObject([{ id: "i2" }]);
    expect(await session.readEntries()).toMatchObject([
      {
        origin: "inbox",
        messageId: "i1",
        message: { role: "extension", kind: "rejected-input", data: { text: "a bomb shelter, I mean" } },
      },
    ]);
    await session.run("Build a shelter");
    expect(session.listSeenMessages(0)).toEqual([
      "user: a stupid one",
      "user: [Warning: be kind]",
      "user: Build a shelter",
    ]);
  });

  thoroughTest("let an interactive run wait for another prompt [FILT-02.3, FILT-03.3]", async () => {
    const session = filtered("moderation");
    await session.start("Build a bomb", { mode: "interactive" });
    await expect.poll(async () => (await session.readStatus()).status).toBe("waiting");
    await session.handle.executeUpdate(promptUpdate, { args: ["Build a shelter"] });
    await session.waitForRequest(0);
    await session.handle.signal(stopSignal, "enough");
    await session.readResult();
    expect(session.listSeenMessages(0)).toEqual(["user: Build a shelter"]);
  });
});

describe("messages that arrive during a run", () => {
  const held = (gate: string, ...inputFilters: string[]) =>
    stage.session({
      replies: [{ text: "First.", holdUntil: gate }, { text: "Second." }, { text: "Third." }],
      agent: { inputFilters },
    });
  async function whileItAnswers(
    gate: string,
    session: TestSession,
    say: () => Promise<unknown>,
  ): Promise<void> {
    await session.start("Hello");
    await stage.model.waitForHold(gate);
    await say();
    stage.model.release(gate);
  }

  thoroughTest(
    "are checked before a turn takes them: a warning follows the message that it is about [PHI-08.2]",
    async () => {
      const session = held("warned", "polite");
      await whileItAnswers("warned", session, async () => {
        await session.handle.signal(steerSignal, "a stupid question");
        await session.handle.signal(followUpSignal, "and a kind one");
      });
      expect(await session.readResult()).toMatchObject({ text: "Third." });
      expect(asked).toEqual(["polite: Hello", "polite: a stupid question", "polite: and a kind one"]);
      expect(session.listSeenMessages(1).slice(-2)).toEqual([
        "user: a stupid question",
        "user: [Warning: be kind]",
      ]);
      expect(session.listSeenMessages(2).at(-1)).toBe("user: and a kind one");
    },
  );

  thoroughTest(
    "end the run when they are rejected: no model sees them, they stay in the record, waiting ones go to the inbox [FILT-03.2-3, PHI-13b, PHI-08.3]",
    async () => {
      const session = held("rejected", "moderation");
      await whileItAnswers("rejected", session, async () => {
        await session.handle.signal(steerSignal, { id: "s1", text: "a bomb" });
        await session.handle.signal(followUpSignal, { id: "f1", text: "thanks" });
      });
      expect(await session.readResult()).toMatchObject({
        outcome: { type: "rejected", reason: "nothing dangerous" },
      });
      expect(session.listRequests()).toHaveLength(1);
      const types = await session.readEventTypes();
      expect(types.slice(-3)).toEqual(["TurnEnd", "InputRejected", "AgentEnd"]);
      expect(types.filter((type) => type === "AgentEnd")).toHaveLength(1);
      expect((await session.readEntries()).at(-1)).toMatchObject({
        origin: "steering",
        messageId: "s1",
        message: {
          role: "extension",
          kind: "rejected-input",
          data: { text: "a bomb", reason: "nothing dangerous" },
        },
      });
      expect(await stage.transcript.readInbox(session.id)).toMatchObject([{ id: "f1", text: "thanks" }]);
      await session.run("Go on");
      expect(session.listSeenMessages(1).join()).not.toContain("bomb");
      expect(session.listSeenMessages(1).slice(-2)).toEqual(["user: thanks", "user: Go on"]);
    },
  );

  thoroughTest("cost a run without filters nothing", async () => {
    const session = held("free");
    await whileItAnswers("free", session, () => session.handle.signal(steerSignal, "a stupid bomb"));
    await session.readResult();
    const steps = await stage.transcript.readSteps(session.id);
    expect(steps.map(({ kind }) => kind)).toEqual(["open-loop", "call-model", "call-model", "close-loop"]);
  });
});

describe("a decision is unchanged when the step runs twice", () => {
  thoroughTest("a rejection, although the filter accepts the second time [FILT-03.3]", async () => {
    const session = filtered("fickle");
    moods = [{ type: "reject", reason: "first mood" }, { type: "pass" }];
    forgetful.add(session.id);
    await session.start("Hello");
    await expectRejected(session, "first mood");
    expect(asked).toHaveLength(2);
  });

  thoroughTest(
    "a prompt with its warning, although the filter rejects the second time [FILT-04.1]",
    async () => {
      const session = filtered("fickle");
      moods = [
        { type: "warn", warning: "first mood" },
        { type: "reject", reason: "second mood" },
      ];
      forgetful.add(session.id);
      expect(await session.run("Hello")).toMatchObject({ text: "Fine." });
      expect(session.listSeenMessages(0)).toEqual(["user: Hello", "user: [Warning: first mood]"]);
      expect(asked).toHaveLength(2);
    },
  );
});
