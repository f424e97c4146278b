import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast, HoldfastError } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "../workflows/support/gates.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import type { TestSession } from "../workflows/support/test-session.ts";

const gates = new Gates();
let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }] });
const answers = (count: number) => Array.from({ length: count }, (_, n) => ({ text: `Answer ${n}.` }));

/** Every user message that the session has accepted, in the conversation or waiting for the next loop. */
async function taken(session: TestSession): Promise<string[]> {
  const waiting = (await stage.transcript.readInbox(session.id)).map(({ text }) => text);
  const entered = (await session.readConversation()).flatMap((line) =>
    line.startsWith("user: ") ? [line.slice(6)] : [],
  );
  return [...entered, ...waiting];
}

describe("one call that does what the conversation needs", () => {
  thoroughTest(
    "no session yet: the call opens it, and needs the agent's definition for it [HITL-04.1]",
    async () => {
      const session = stage.session({ replies: answers(1) });
      await expect(holdfast.session(session.id).send("Hello")).rejects.toMatchObject({
        code: "session-unknown",
      });
      const sent = await holdfast
        .session(session.id)
        .send("Hello", { agent: session.definition, messageId: "m1" });
      expect(sent).toMatchObject({ session: session.id, messageId: "m1", delivery: "opened" });
      expect(await session.readResult()).toMatchObject({ text: "Answer 0." });
      expect((await session.readEvents())[0]?.body).toMatchObject({
        type: "AgentStart",
        kind: { type: "initial" },
      });
    },
  );

  thoroughTest(
    "a rejected prompt leaves an empty history: the next message opens it [HITL-04.1]",
    async () => {
      const session = stage.session({ agent: { model: { apiKey: "${NOT_THERE}" } } });
      await session.start("Go");
      await session.readFailure();
      const again = await holdfast.session(session.id).send("Go", { agent: session.definition });
      expect(again.delivery).toBe("opened");
      await session.readFailure();
    },
  );

  thoroughTest(
    "a conversation that ends with an answer: a new prompt, with the stored definition [HITL-04.3]",
    async () => {
      const session = stage.session({ replies: answers(2) });
      await session.run("First");
      expect(await holdfast.session(session.id).send("Second")).toMatchObject({ delivery: "prompted" });
      await session.readResult();
      expect(session.listSeenMessages(1)).toEqual(["user: First", "assistant: Answer 0.", "user: Second"]);
    },
  );

  thoroughTest(
    "a conversation that ends with an unanswered message: the model reads both, and the failed answer is not sent [HITL-04.2]",
    async () => {
      const session = stage.session({
        faults: [{ fault: "server-error", status: 500 }],
        replies: answers(1),
      });
      await session.start("First");
      await session.readFailure();
      expect(await holdfast.session(session.id).send("Please")).toMatchObject({ delivery: "continued" });
      await session.readResult();
      expect(session.listSeenMessages(1)).toEqual(["user: First", "user: Please"]);
      expect((await stage.transcript.readLoops(session.id)).map(({ kind }) => kind.type)).toEqual([
        "initial",
        "default",
      ]);
    },
  );

  thoroughTest(
    "a conversation that ends with a tool's result: the model reads it, followed by the message [HITL-04.2]",
    async () => {
      gates.get("last").open();
      const session = stage.session({
        replies: [hold("last"), ...answers(2)],
        faults: [{ fault: "server-error", status: 500, onTurn: 1 }],
        agent: { tools: ["hold"] },
      });
      await session.start("First");
      await session.readFailure();
      expect(await holdfast.session(session.id).send("Go on")).toMatchObject({ delivery: "continued" });
      await session.readResult();
      expect(session.listSeenMessages(2)).toEqual([
        "user: First",
        "assistant: calls hold",
        "user: passed last",
        "user: Go on",
      ]);
    },
  );

  thoroughTest("a waiting interactive run is prompted; no run is started [HITL-04.3]", async () => {
    const session = stage.session({ replies: answers(2) });
    await session.start("First", { mode: "interactive" });
    await expect.poll(async () => (await session.readStatus()).status).toBe("waiting");
    const sent = await holdfast.session(session.id).send("Second");
    expect(sent).toMatchObject({ delivery: "prompted" });
    expect(sent.runId).toBeUndefined();
    await session.waitForRequest(1);
    await holdfast.session(session.id).stop();
    await session.readResult();
  });

  thoroughTest("a message that is sent again under its id is accepted once", async () => {
    const session = stage.session({ replies: answers(3) });
    const options = { agent: session.definition, messageId: randomUUID() };
    await holdfast.session(session.id).send("Once", options);
    await session.readResult();
    await holdfast.session(session.id).send("Once", options);
    await session.readResult();
    expect(session.listSeenMessages(0)).toEqual(["user: Once"]);
    expect(session.listRequests()).toHaveLength(1);
  });
});

describe("while a loop is running", () => {
  thoroughTest("the message is rejected, and the error says what to do [STEER-12.1, HITL-04.4]", async () => {
    const session = stage.session({ replies: [hold("busy"), ...answers(1)], agent: { tools: ["hold"] } });
    await session.start("First");
    await gates.get("busy").arrived;
    const error = (await holdfast
      .session(session.id)
      .send("Second")
      .catch((thrown) => thrown)) as HoldfastError;
    expect(error.code).toBe("session-busy");
    expect(error.message).toContain("Agent is already streaming. Use steer() or follow_up().");
    expect(error.message).toContain('whileRunning: "steer"');
    expect(error.facts.command).toBe(`holdfast steer ${session.id}`);
    gates.get("busy").open();
    await session.readResult();
    expect(await taken(session)).toEqual(["First"]);
  });

  test.each([
    ["steer", "steered", 1],
    ["follow-up", "followed-up", 2],
  ] as const)("%s: the message reaches the agent [HITL-04.4]", async (whileRunning, delivery, request) => {
    const session = stage.session({ replies: [hold(delivery), ...answers(2)], agent: { tools: ["hold"] } });
    await session.start("First");
    await gates.get(delivery).arrived;
    expect(await holdfast.session(session.id).send("Second", { whileRunning })).toMatchObject({ delivery });
    gates.get(delivery).open();
    await session.readResult();
    expect(session.listSeenMessages(request).at(-1)).toBe("user: Second");
    expect(session.listSeenMessages(request - 1)).not.toContain("user: Second");
  });

  thoroughTest(
    "many concurrent messages to an idle session: each is accepted once, whichever comes first",
    async () => {
      const session = stage.session({ replies: answers(30) });
      const texts = Array.from({ length: 8 }, (_, n) => `message ${n}`);
      const sent = await Promise.all(
        texts.map((text) =>
          holdfast.session(session.id).send(text, { agent: session.definition, whileRunning: "steer" }),
        ),
      );
      expect(sent.some(({ delivery }) => delivery === "opened")).toBe(true);
      await session.readResult();
      expect((await taken(session)).sort()).toEqual(texts);
    },
  );

  thoroughTest(
    "many concurrent messages without an option for a running loop: each is either accepted or reported as rejected",
    async () => {
      const session = stage.session({ replies: [hold("crowd"), ...answers(9)], agent: { tools: ["hold"] } });
      const texts = Array.from({ length: 6 }, (_, n) => `message ${n}`);
      const sent = await Promise.allSettled(
        texts.map((text) => holdfast.session(session.id).send(text, { agent: session.definition })),
      );
      gates.get("crowd").open();
      await session.readResult();
      const through = texts.filter((_, n) => sent[n]?.status === "fulfilled");
      expect(through).toHaveLength(1);
      expect(await taken(session)).toEqual(through);
      for (const one of sent) {
        if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "session-busy" });
      }
    },
  );
});

describe("from the command line", () => {
  const cli = (...args: readonly string[]) => runCommandLine(stage, ...args);

  test("an idle session is prompted and its answer printed; a running one is steered on request [HITL-04.3-4]", async () => {
    const session = stage.session({
      replies: [{ text: "One." }, { text: "Two." }, hold("shell"), { text: "Three." }],
      agent: { tools: ["hold"] },
    });
    await session.run("First");
    const prompted = await cli("send", session.id, "And", "then?");
    expect([prompted.code, prompted.out]).toEqual([0, expect.stringContaining("Two.")]);
    expect(prompted.err).toContain("prompted");

    const left = await cli("send", session.id, "More", "--detach");
    expect(left.code).toBe(0);
    await gates.get("shell").arrived;
    const refused = await cli("send", session.id, "Stop that");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("already streaming")]);
    expect((await cli("send", session.id, "x", "--steer", "--follow-up")).code).toBe(2);
    const steered = await cli("send", session.id, "Stop", "that", "--steer");
    expect([steered.code, steered.err]).toEqual([0, expect.stringContaining("steered")]);
    gates.get("shell").open();
    await session.readResult();
    expect(session.listSeenMessages(3).at(-1)).toBe("user: Stop that");
  });
});
