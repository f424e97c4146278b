import { afterAll, beforeAll, expect, test } from "vitest";
import { toProblem } from "../../src/apps/server/problem.ts";
import { type Holdfast, HoldfastError } from "../../src/client/index.ts";
import { MAX_WAITING_BYTES, MAX_WAITING_MESSAGES } from "../../src/core/machine/queue-limits.ts";
import { MAX_LISTED_REJECTIONS } from "../../src/core/machine/queue-size.ts";
import { followUpSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
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

/** Signals, as any Temporal client can send them. */
async function fill(session: TestSession, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    await session.handle.signal(followUpSignal, { id: `f${sent}`, text: `note ${sent}` });
  }
  await eventually(async () => (await session.readStatus()).queued.followUps === count);
}

/**
 * Sends until a message is refused. A client that has no answer from a run within a second, as on a busy machine, sends the
 * message all the same, and the run rejects it.
 *
 * @returns The refusal, and how many messages were sent.
 */
async function readRefusal<Refusal>(
  send: () => Promise<Refusal | undefined>,
): Promise<{ refusal: Refusal; sent: number }> {
  for (let sent = 0; sent < 5; sent += 1) {
    const refusal = await send();
    if (refusal !== undefined) return { refusal, sent };
  }
  throw new Error("Five messages were sent to a run whose queue is full.");
}

const catchError = (sending: Promise<unknown>) =>
  sending.then(
    () => undefined,
    (error) => error,
  );

test("a run whose queue is full rejects one more message: by update, before a signal, and on the command line; it loses no accepted one", async () => {
  const session = stage.session({
    replies: [
      { toolCalls: [{ name: "hold", arguments: { gate: "full" } }] },
      { text: "One." },
      { text: "All." },
    ],
    agent: { tools: ["hold"], followUpMode: "all" },
  });
  await session.start("Go");
  await gates.get("full").arrived;
  await fill(session, MAX_WAITING_MESSAGES);

  const facts = {
    session: session.id,
    waiting: MAX_WAITING_MESSAGES,
    maxWaiting: MAX_WAITING_MESSAGES,
    maxBytes: MAX_WAITING_BYTES,
  };
  const acknowledged = await catchError(
    holdfast.session(session.id).steer("Too late", { acknowledge: true }),
  );
  const unacknowledged = await readRefusal(() =>
    catchError(holdfast.session(session.id).steer("Too late", { acknowledge: false })),
  );
  for (const refused of [acknowledged, unacknowledged.refusal]) {
    expect(refused).toBeInstanceOf(HoldfastError);
    expect(refused).toMatchObject({ code: "queue-full", facts });
    expect(refused.message).toMatch(
      /rejected the message: its queues are full\. 200 messages with \d+ bytes are waiting/,
    );
    expect(toProblem(refused, "/v1")).toMatchObject({ status: 429, code: "queue-full", waiting: 200 });
  }
  const { refusal, sent } = await readRefusal(() =>
    catchError(holdfast.session(session.id).send("Too late", { whileRunning: "steer" })),
  );
  expect(refusal).toMatchObject({ code: "queue-full" });
  expect(
    await holdfast.session(session.id).steer("note 7", { messageId: "f7", acknowledge: true }),
  ).toMatchObject({
    queued: MAX_WAITING_MESSAGES,
  });
  const { refusal: typed, sent: typedBefore } = await readRefusal(async () => {
    const ended = await runCommandLine(stage, "steer", session.id, "Too late");
    return ended.code === 0 ? undefined : ended;
  });
  expect(typed.code).toBe(1);
  expect(typed.err).toMatch(/200 messages .* are waiting, and at most 200 messages/);

  // A signal has no reply: the run reports what it rejected.
  await session.handle.signal(followUpSignal, { id: "late", text: "one too many" });
  const messages = unacknowledged.sent + sent + typedBefore + 1;
  await eventually(async () => (await session.readStatus()).rejectedMessages?.messages === messages);
  const newest = (await session.readStatus()).rejectedMessages?.newest.map(({ id }) => id);
  expect(newest?.at(-1)).toBe("late");
  expect(newest).toHaveLength(Math.min(messages, MAX_LISTED_REJECTIONS));
  const shown = await runCommandLine(stage, "status", session.id);
  const counted = messages === 1 ? "1 message" : `${messages} messages`;
  expect(shown.out).toMatch(new RegExp(`rejected +${counted}, because the queue was full`));

  gates.get("full").open();
  await session.readResult();
  const followUps = (await session.readConversation()).filter((line) => line.startsWith("user: note"));
  expect(followUps).toEqual(
    Array.from({ length: MAX_WAITING_MESSAGES }, (_, index) => `user: note ${index}`),
  );
  const recorded = (await session.readEvents()).flatMap(({ body }) =>
    body.type === "MessageRejected" ? [body] : [],
  );
  expect(recorded).toMatchObject([{ messageId: "late", queue: "follow-up", rejected: 1 }]);
});

thoroughTest("a session whose inbox is full accepts no further message while no run is open", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  await session.run("First");
  await holdfast.session(session.id).steer("note 0", { messageId: "f0" });
  for (let sent = 1; sent < MAX_WAITING_MESSAGES; sent++) {
    const { args: _, ...options } = session.createStartRequest();
    await stage.client.workflow.signalWithStart("agent", {
      ...options,
      args: [{}],
      signal: followUpSignal,
      signalArgs: [{ id: `f${sent}`, text: `note ${sent}` }],
    });
  }
  await eventually(async () => (await stage.transcript.countInbox(session.id)) === MAX_WAITING_MESSAGES);
  await session.readResult();
  await expect(holdfast.session(session.id).followUp("Too late")).rejects.toMatchObject({
    code: "queue-full",
    facts: { waiting: MAX_WAITING_MESSAGES },
    message: expect.stringMatching(/its inbox is full\. No run is open, and 200 messages are waiting/),
  });
  await session.run("Second");
  expect(await stage.transcript.countInbox(session.id)).toBe(0);
  expect(session.listSeenMessages(1)).toHaveLength(MAX_WAITING_MESSAGES + 3);
  await holdfast.session(session.id).followUp("Now there is room");
});
