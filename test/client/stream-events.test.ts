import { expect, test } from "vitest";
import { LiveEvents } from "../../src/client/read/live-events.ts";
import type { StreamEvent } from "../../src/client/read/stream-event.ts";
import { AnswerText, StreamEventBuilder } from "../../src/client/read/stream-event-builder.ts";
import { buildEmptyAnswer } from "../../src/conversation/live-answer.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import type { AgentEvent } from "../../src/schema/agent-event.ts";
import type { Content } from "../../src/schema/message.ts";
import type { DeltaBody } from "../../src/store/stream/stream-hub.ts";

const MODEL = { model: "m", provider: "p" };
const TIMESTAMP = "2026-01-01T00:00:00.000Z";

/** What a reader gets of one loop: recorded events, and live output between them. */
class Reader {
  readonly #live = new LiveEvents();
  readonly #builder = new StreamEventBuilder();
  readonly seen: StreamEvent[] = [];
  #turn = 0;
  #attempt = 1;
  #sequence = 0;

  record(...events: readonly AgentEvent[]): void {
    for (const event of events) this.#add(this.#live.addRecorded(event));
  }

  beginTurn(turn: number): void {
    this.#turn = turn;
    this.record({
      type: "TurnStart",
      loopId: "l",
      turnIndex: turn,
      timestamp: TIMESTAMP,
      triggeredBy: "user",
    });
  }

  publish(...bodies: readonly DeltaBody[]): void {
    for (const body of bodies) {
      if (body.type === "attempt") this.#attempt += 1;
      const delta = {
        session: "s",
        run: "r",
        loopId: "l",
        turn: this.#turn,
        command: this.#turn,
        call: 0,
        generation: 1,
        attempt: this.#attempt,
        sequence: this.#sequence++,
        atMs: 0,
        body,
      };
      this.#add(this.#live.addLive(delta, MODEL));
    }
  }

  endAnswer(...content: readonly Content[]): void {
    const message = {
      ...buildEmptyAnswer("m", "p", 0, { loopId: "l", turnIndex: this.#turn }),
      content: [...content],
    };
    this.record({ type: "MessageStart", loopId: "l", message }, { type: "MessageEnd", loopId: "l", message });
  }

  get text(): string {
    const joined = new AnswerText();
    return this.seen.flatMap((event) => joined.add(event)).join("");
  }

  #add(events: readonly AgentEvent[]): void {
    for (const event of events) this.seen.push(...this.#builder.toStreamEvents(event));
  }
}

const text = (value: string): Content => ({ type: "text", text: value });
const say = (value: string): DeltaBody => ({ type: "text", text: value });

test("pieces arrive as they are written, and the record adds only what was missed", () => {
  const reader = new Reader();
  reader.beginTurn(0);
  reader.publish({ type: "thinking", text: "Hm" }, say("Good "), say("day"));
  reader.endAnswer({ type: "thinking", thinking: "Hmm" }, text("Good day!"));
  expect(reader.seen).toEqual([
    { type: "start-step", loopId: "l", turn: 0 },
    { type: "reasoning-delta", loopId: "l", text: "Hm" },
    { type: "text-delta", loopId: "l", text: "Good " },
    { type: "text-delta", loopId: "l", text: "day" },
    { type: "reasoning-delta", loopId: "l", text: "m" },
    { type: "text-delta", loopId: "l", text: "!" },
  ]);
});

test("a retried attempt discards the one before it, and the text stream continues after a blank line", () => {
  const reader = new Reader();
  reader.beginTurn(0);
  reader.publish(say("Lost "), say("words"), { type: "attempt" }, say("Kept"), say("."));
  reader.endAnswer(text("Kept."));
  expect(reader.seen.slice(1)).toEqual([
    { type: "text-delta", loopId: "l", text: "Lost " },
    { type: "text-delta", loopId: "l", text: "words" },
    { type: "attempt-discarded", loopId: "l", turn: 0 },
    { type: "text-delta", loopId: "l", text: "Kept" },
    { type: "text-delta", loopId: "l", text: "." },
  ]);
  expect(reader.text).toBe("Lost words\n\nKept.");
});

test("a recorded answer that differs from the live one replaces it", () => {
  const reader = new Reader();
  reader.beginTurn(0);
  reader.publish(say("Hello wo"));
  reader.endAnswer(text("Hullo"));
  expect(reader.seen.slice(2)).toEqual([
    { type: "attempt-discarded", loopId: "l", turn: 0 },
    { type: "text-delta", loopId: "l", text: "Hullo" },
  ]);
});

test("an attempt without a text discards nothing", () => {
  const reader = new Reader();
  reader.beginTurn(0);
  reader.publish(
    { type: "tool-call", toolCallId: "c", toolName: "t", text: "{" },
    { type: "attempt" },
    say("Kept"),
  );
  expect(reader.seen.map(({ type }) => type)).toEqual(["start-step", "text-delta"]);
});

test("a call is followed by its result, its error, or its denial", () => {
  const reader = new Reader();
  reader.beginTurn(0);
  const ids = ["a", "b", "c"];
  reader.endAnswer(...ids.map((id): Content => ({ type: "toolCall", id, name: "t", arguments: { id } })));
  const end = (toolCallId: string, value: string, isError: boolean): AgentEvent => ({
    type: "ToolExecutionEnd",
    loopId: "l",
    toolCallId,
    toolName: "t",
    result: { content: [text(value)] },
    isError,
  });
  reader.record(end("a", "fine", false), end("b", "broken", true), end("c", "Denied by the user: no", true));
  const call = (toolCallId: string) => ({ loopId: "l", toolCallId, toolName: "t" });
  expect(reader.seen.slice(1)).toEqual([
    ...ids.map((id) => ({ type: "tool-call", ...call(id), input: { id } })),
    { type: "tool-result", ...call("a"), output: { content: [text("fine")] } },
    { type: "tool-error", ...call("b"), error: "broken" },
    { type: "tool-output-denied", ...call("c"), error: "Denied by the user: no" },
  ]);
});

test("a loop finishes with its outcome and its usage; the texts of its answers are separated", () => {
  const reader = new Reader();
  reader.beginTurn(0);
  reader.endAnswer(text("One."));
  reader.beginTurn(1);
  reader.endAnswer();
  reader.beginTurn(2);
  reader.endAnswer(text("Two."));
  const outcome = { type: "answered" as const, stopReason: "stop" as const };
  reader.record({
    type: "AgentEnd",
    loopId: "l",
    messages: [],
    usage: NO_USAGE,
    outcome,
    timestamp: TIMESTAMP,
  });
  expect(reader.seen.at(-1)).toEqual({ type: "finish", loopId: "l", outcome, totalUsage: NO_USAGE });
  expect(reader.text).toBe("One.\n\nTwo.");
});
