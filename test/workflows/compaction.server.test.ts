import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { compactSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { listRequestMessages } from "./support/test-session.ts";

let stage: TestEnvironment;
let client: Holdfast;

beforeAll(async () => {
  stage = await openTestEnvironment();
  client = await connectClient(stage);
});
afterAll(async () => {
  await client.close();
  await stage.close();
});

const LONG = "All work and no play makes a long day. ".repeat(60);
const look = (path: string) => ({ text: LONG, toolCalls: [{ name: "list_files", arguments: { path } }] });
const SMALL = {
  maxContextTokens: 6000,
  systemPromptTokens: 100,
  compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200 },
};

const usage = { input: 0, output: 0 };
const turns = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    n === count - 1 ? { text: "Done.", usage } : { ...look("."), usage },
  );

describe("a context that grows", () => {
  test("is compacted by an activity of its own; requests are smaller, the record is complete [CMP-01.2, PHI-13g.1, TEST-06.6]", async () => {
    const session = stage.session({
      replies: turns(16),
      agent: { tools: ["list_files"], context: SMALL, limits: { maxTurns: 16 } },
    });
    await session.run("Go");
    const sizes = session.listRequests().map(({ body }) => JSON.stringify(body).length);
    expect(sizes).toHaveLength(16);
    expect(Math.max(...sizes)).toBeLessThan(6000 * 4 * 1.5);
    const events = await session.readEventTypes();
    expect(events.filter((type) => type === "CompactionEnded").length).toBeGreaterThan(0);
    const answers = (await session.readEntries()).filter(({ message }) => message.role === "assistant");
    expect(answers).toHaveLength(16);
    const kinds = (await session.readEntries()).flatMap(({ message }) =>
      message.role === "extension" ? [message.kind] : [],
    );
    expect(new Set(kinds)).toEqual(new Set(["compaction"]));
    const { events: history = [] } = await session.handle.fetchHistory();
    const text = JSON.stringify(history);
    expect(text).not.toContain("All work and no play makes a long day. All work");
  });

  thoroughTest("is as small in the next run of its session [CMP-07.1]", async () => {
    const agent = { tools: ["list_files"], context: SMALL, limits: { maxTurns: 16 } };
    const session = stage.session({ replies: turns(16), agent });
    await session.run("Go");
    const before = session.listSeenMessages(15);
    expect(before.some((line) => line.includes("[Summary]"))).toBe(true);
    await session.run("And now?");
    const after = session.listSeenMessages(16);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)).toBe("user: And now?");
  });

  thoroughTest(
    "of an idle session is compacted in a loop of its own, which calls no model [CMP-13.1-2]",
    async () => {
      const context = { ...SMALL, maxContextTokens: 100_000 };
      const session = stage.session({
        replies: [...turns(6), { text: "Again." }],
        agent: { tools: ["list_files"], context },
      });
      await session.run("Go");
      const whole = session.listSeenMessages(5);
      await session.start(undefined, { continuation: { kind: { type: "compaction" }, focus: "the prices" } });
      expect(await session.readResult()).toMatchObject({
        outcome: { type: "answered", stopReason: "contextCompacted" },
      });
      expect(session.listRequests()).toHaveLength(6);
      expect(await session.readEventTypes(1)).toEqual([
        "AgentStart",
        "CompactionStarted",
        "CompactionEnded",
        "AgentEnd",
      ]);
      await session.run("And now?");
      const after = session.listSeenMessages(6);
      expect(after.length).toBeLessThan(whole.length);
      expect(after.some((line) => line.includes("[Summary]"))).toBe(true);
      expect(after.at(-1)).toBe("user: And now?");
    },
  );

  test("is compacted before the next answer when the user asks for it", async () => {
    const replies = [
      ...turns(5).slice(0, 4),
      { ...look("."), holdUntil: "asked", usage },
      { text: "Done.", usage },
    ];
    const session = stage.session({
      replies,
      agent: {
        tools: ["list_files"],
        context: { ...SMALL, maxContextTokens: 100_000 },
        limits: { maxTurns: 6 },
      },
    });
    await session.start("Go");
    await stage.model.waitForHold("asked");
    await session.handle.signal(compactSignal, { focus: "the prices" });
    await eventually(async () => {
      const { events = [] } = await session.handle.fetchHistory();
      return (events ?? []).some(
        (event) => event.workflowExecutionSignaledEventAttributes?.signalName === "compact",
      );
    });
    stage.model.release("asked");
    await session.readResult();
    const sizes = session.listRequests().map(({ body }) => JSON.stringify(body).length);
    expect(sizes).toHaveLength(6);
    expect(sizes[5]).toBeLessThan(sizes[4] ?? 0);
  });
});

describe("the strategy that asks a model [CMP-10, CMP-14, CTX-10]", () => {
  const asksForNotes = ({ body }: { body: Record<string, unknown> | undefined }) =>
    JSON.stringify(body?.["system"] ?? "").includes("You shorten the record");

  thoroughTest(
    "replaces the middle with its text; its cost counts, and the record stays [CMP-10.3, CMP-14.1]",
    async () => {
      const session = stage.session({
        replies: [
          { ...look("."), usage: { input: 10, output: 10 } },
          ...turns(5).slice(1, 4),
          { ...look("."), holdUntil: "notes", usage },
          { text: "Done.", usage },
        ],
        faults: [],
        agent: {
          tools: ["list_files"],
          context: {
            ...SMALL,
            maxContextTokens: 100_000,
            compaction: { ...SMALL.compaction, strategy: "summary", focusMessage: "the long days" },
          },
          limits: { maxTurns: 6 },
          model: { cost: { input: 1000, output: 1000 } },
        },
      });
      await session.start("Go");
      await stage.model.waitForHold("notes");
      await session.handle.signal(compactSignal, {});
      await eventually(async () => {
        const { events = [] } = await session.handle.fetchHistory();
        return (events ?? []).some(
          (event) => event.workflowExecutionSignaledEventAttributes?.signalName === "compact",
        );
      });
      stage.model.release("notes");
      await session.readResult();
      const asked = session.listRequests().filter(asksForNotes);
      expect(asked).toHaveLength(1);
      const words = JSON.stringify(asked[0]?.body);
      expect(words).toContain("What matters most: the long days");
      expect(words).toContain("All work and no play");
      const compaction = (await session.readEntries()).find(({ message }) => message.role === "extension");
      // The scripted model gives its first reply to a request without answers in it.
      expect(JSON.stringify(compaction?.message)).toContain("All work and no play");
      const after = session.listRequests().at(-1);
      expect(listRequestMessages(after).filter((line) => line.startsWith("user: All work"))).toHaveLength(1);
      // The two requests that received the first reply.
      expect((await session.readStatus()).costUsd).toBeCloseTo(0.04);
    },
  );
});

describe("a context that does not fit", () => {
  thoroughTest("is compacted and sent once more [OVF-04.1, X-09.1, PHI-13e]", async () => {
    const session = stage.session({
      replies: turns(6),
      faults: [{ fault: "overflow", onTurn: 4 }],
      agent: { tools: ["list_files"], context: { ...SMALL, maxContextTokens: 100_000 } },
    });
    await session.run("Go");
    expect(await session.readResult()).toMatchObject({ text: "Done." });
  });

  thoroughTest("twice ends the run with an error that states what was tried [X-09.2]", async () => {
    const session = stage.session({ faults: [{ fault: "overflow", times: 9 }] });
    await session.start(`THE QUESTION ${LONG}`);
    const { readResult } = await session.readFailure();
    expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "overflow" });
    expect(readResult?.outcome.type === "failed" && readResult.outcome.message).toContain(
      "even after a compaction",
    );
    const [first = "", second = "", ...more] = session.listRequests().map(({ body }) => JSON.stringify(body));
    expect(more).toEqual([]);
    expect(second.length).toBeLessThan(first.length);
    expect(second).toContain("THE QUESTION");
    expect((await session.readEventTypes()).at(-1)).toBe("AgentEnd");
  });

  test("and that cannot be made smaller is not sent again [X-09.2]", async () => {
    const session = stage.session({ faults: [{ fault: "overflow", times: 9 }] });
    await session.start("Go");
    const { readResult } = await session.readFailure();
    expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "overflow" });
    expect(readResult?.outcome.type === "failed" && readResult.outcome.message).not.toContain("compaction");
    expect(session.listRequests()).toHaveLength(1);
    expect(await session.readEventTypes()).not.toContain("CompactionStarted");
    expect((await session.readEventTypes()).at(-1)).toBe("AgentEnd");
  });

  thoroughTest(
    "ends the run at the first failure without context management [OVF-05.3, X-09.3]",
    async () => {
      const session = stage.session({ faults: [{ fault: "overflow", times: 9 }], agent: { context: null } });
      await session.start("Go");
      await session.readFailure();
      expect(session.listRequests()).toHaveLength(1);
    },
  );
});

describe("a compaction that is removed", () => {
  thoroughTest(
    "leaves the model the whole conversation again, and the record without blocks [CMP-01, PHI-07]",
    async () => {
      const session = stage.session({
        replies: [...turns(5), { text: "Whole.", usage }],
        agent: { tools: ["list_files"], context: { ...SMALL, maxContextTokens: 100_000 } },
      });
      await session.run("Go");
      const { id } = session;
      const compacted = await runCommandLine(stage, "compact", id);
      expect(compacted).toMatchObject({ code: 0, out: expect.stringContaining("context: about") });
      expect((await client.session(id).record()).loops[0]).toHaveProperty("compactionBlock");

      const undone = await runCommandLine(stage, "compact", id, "--undo");
      expect(undone).toMatchObject({ code: 0, out: "removed: the next run sees every message again\n" });
      const record = await client.session(id).record();
      expect(record.loops.filter(({ compactionBlock }) => compactionBlock !== undefined)).toEqual([]);
      expect(record.loops.at(-1)?.continuationKind).toEqual({ type: "compaction", removes: true });
      await session.run("After?", { continuation: { kind: { type: "default" } } });
      expect(session.listSeenMessages(5)).toEqual([
        ...session.listSeenMessages(4),
        "assistant: Done.",
        "user: After?",
      ]);

      const { messages } = await client.session(id).messages.request({});
      // A prompt, four answers with their results, an answer, and the new prompt.
      expect(messages).toHaveLength(11);
      expect(JSON.stringify(messages)).not.toContain("[Summary]");
    },
  );

  thoroughTest("is refused while a run is open, and with a focus", async () => {
    const session = stage.session({ replies: [{ text: "Held.", holdUntil: "undo" }] });
    await session.start("Go");
    await stage.model.waitForHold("undo");
    await expect(client.session(session.id).compact({ undo: true })).rejects.toMatchObject({
      code: "session-busy",
    });
    stage.model.release("undo");
    await session.readResult();
    const both = await runCommandLine(stage, "compact", session.id, "--undo", "--focus", "x");
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining("give one of the two") });
  });
});
