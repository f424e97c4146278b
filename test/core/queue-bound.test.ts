import { describe, expect, test } from "vitest";
import { apply } from "../../src/core/machine/apply.ts";
import { MAX_WAITING_BYTES, MAX_WAITING_MESSAGES } from "../../src/core/machine/queue-limits.ts";
import { MAX_LISTED_REJECTIONS, measureQueues } from "../../src/core/machine/queue-size.ts";
import { hasRoom } from "../../src/core/machine/queues.ts";
import { buildInitialState } from "../../src/core/machine/start.ts";
import type { State } from "../../src/core/machine/state/state.ts";
import { buildStatus } from "../../src/core/machine/status.ts";
import { play } from "./support/run.ts";

const message = (id: string, words: { text?: string; ref?: string } = { text: "x" }) => ({
  id,
  ...words,
  atMs: 1,
});

/** A run during its first model call, with empty queues. */
const asking = async (): Promise<State> => (await play().until("call-model")).state;

function send(state: State, count: number, way: "steered" | "followed-up" = "steered", from = 0): State {
  return Array.from({ length: count }, (_, index) => message(`${way}-${from + index}`)).reduce(
    (now, one) => apply(now, { type: way, message: one, atMs: 2 }),
    state,
  );
}

test("metadata counts among the bytes that wait, as JSON", async () => {
  const metadata = { request: "é".repeat(1000) };
  const one = { ...message("m", { text: "xyz" }), metadata };
  const state = apply(await asking(), { type: "steered", message: one, atMs: 2 });
  expect(measureQueues(state.queues)).toEqual({
    messages: 1,
    bytes: 3 + Buffer.byteLength(JSON.stringify(metadata)),
  });
});

const refusals = (state: State) =>
  state.outbox.events.flatMap(({ body }) => (body.type === "MessageRejected" ? [body] : []));

describe("the queues of a run", () => {
  test(`hold ${MAX_WAITING_MESSAGES} messages, steering and follow-ups together, and reject the next one`, async () => {
    const full = send(send(await asking(), 150, "steered"), 50, "followed-up");
    expect(refusals(full)).toEqual([]);
    const more = send(full, 1, "followed-up", 50);
    expect([more.queues.steering.length, more.queues.followUps.length]).toEqual([150, 50]);
    expect(refusals(more)).toEqual([
      {
        type: "MessageRejected",
        messageId: "followed-up-50",
        queue: "follow-up",
        waiting: { messages: 200, bytes: 200 },
        rejected: 1,
      },
    ]);
    expect(buildStatus(more).rejectedMessages).toEqual({
      messages: 1,
      newest: [{ id: "followed-up-50", atMs: 1 }],
    });
  });

  test("have a limit in UTF-8 bytes, to which a stored text adds only its hash", async () => {
    const half = "é".repeat(MAX_WAITING_BYTES / 4);
    let state = apply(await asking(), { type: "steered", message: message("a", { text: half }), atMs: 2 });
    state = apply(state, { type: "followed-up", message: message("b", { text: half }), atMs: 2 });
    expect(measureQueues(state.queues)).toEqual({ messages: 2, bytes: MAX_WAITING_BYTES });
    expect(hasRoom(state, message("c", { text: "x" }))).toBe(false);
    const one = apply(await asking(), { type: "steered", message: message("a", { text: half }), atMs: 2 });
    const long = apply(one, { type: "steered", message: message("l", { ref: "0".repeat(64) }), atMs: 2 });
    expect(long.queues.steering).toHaveLength(2);
    expect(measureQueues(long.queues).bytes).toBe(MAX_WAITING_BYTES / 2 + 64);
  });

  test("accept a rejected message that is sent again when there is room", async () => {
    const more = send(await asking(), MAX_WAITING_MESSAGES + 1);
    const cleared = apply(more, { type: "queues-cleared", queue: "all", atMs: 3 });
    const again = send(cleared, 1, "steered", MAX_WAITING_MESSAGES);
    expect(again.queues.steering.map(({ id }) => id)).toEqual([`steered-${MAX_WAITING_MESSAGES}`]);
  });

  test("treat a repeated message as accepted, even when they are full", async () => {
    const full = send(await asking(), MAX_WAITING_MESSAGES);
    const again = send(full, 1, "steered", MAX_WAITING_MESSAGES - 1);
    expect(hasRoom(full, message(`steered-${MAX_WAITING_MESSAGES - 1}`))).toBe(true);
    expect(again.queues).toEqual(full.queues);
    expect(refusals(again)).toEqual([]);
  });

  test("stay small however many messages are sent: all rejections are counted, only the newest are listed", async () => {
    const flooded = send(send(await asking(), 3000), 3000, "followed-up");
    expect(JSON.stringify(flooded).length).toBeLessThan(96 * 1024);
    expect(refusals(flooded).length).toBeLessThanOrEqual(20);
    expect(buildStatus(flooded).rejectedMessages).toMatchObject({ messages: 5800 });
    expect(buildStatus(flooded).rejectedMessages?.newest).toHaveLength(MAX_LISTED_REJECTIONS);
    expect(buildStatus(flooded).rejectedMessages?.newest.at(-1)?.id).toBe("followed-up-2999");
  });

  test("are limited before the first loop too, and record no event then", () => {
    const fresh = buildInitialState({
      session: "s",
      mode: "run",
      idleTimeoutMs: null,
      localSteps: false,
      requestedDefinition: {},
      prompts: [],
      nowMs: 0,
    });
    const flooded = send(fresh, 300);
    expect(flooded.queues.steering).toHaveLength(MAX_WAITING_MESSAGES);
    expect(flooded.rejectedMessages?.messages).toBe(100);
    expect(flooded.outbox.events).toEqual([]);
  });

  test("deliver every accepted message in order, and rejections are recorded", async () => {
    const run = await play({ steeringMode: "all" }).until("call-model");
    for (let index = 0; index < MAX_WAITING_MESSAGES + 5; index++) await run.steer(`word ${index}`);
    await run.settle();
    expect(run.lines.slice(2, -1)).toEqual(
      Array.from({ length: MAX_WAITING_MESSAGES }, (_, index) => `steering: word ${index}`),
    );
    const loopId = run.asked[0]?.loopId ?? "";
    const recorded = run.transcript
      .listEvents(loopId)
      .flatMap(({ body }) => (body.type === "MessageRejected" ? [body] : []));
    expect(recorded).toHaveLength(5);
    expect(recorded.at(-1)).toMatchObject({ rejected: 5 });
  });

  test("record no rejection after a loop's last event", async () => {
    const closing = (await play().until("close-loop")).state;
    const more = send(closing, MAX_WAITING_MESSAGES + 1);
    expect(more.outbox.events.at(-1)?.body.type).toBe("AgentEnd");
    expect(more.rejectedMessages?.messages).toBe(1);
  });
});
