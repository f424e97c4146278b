import { describe, expect, test } from "vitest";
import { LiveEvents } from "../../src/client/read/live-events.ts";
import { AgentEvent, StreamDelta } from "../../src/schema/agent-event.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import type { Delta, DeltaBody } from "../../src/store/stream/stream-hub.ts";

const NO_USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const ASKED = { model: "m", provider: "p" };
const loopId = "l";
const timestamp = "2026-01-01T00:00:00.000Z";

const delta = (body: DeltaBody, more: Partial<Delta> = {}): Delta => ({
  session: "s",
  run: "r",
  loopId,
  turn: 0,
  command: 1,
  call: 0,
  generation: 1,
  attempt: 1,
  sequence: 0,
  atMs: 1000,
  body,
  ...more,
});
const text = (piece: string, more: Partial<Delta> = {}) => delta({ type: "text", text: piece }, more);
const answer = (more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: "whole" }],
  stopReason: "stop",
  model: "m",
  provider: "p",
  usage: NO_USAGE,
  timestamp: 2000,
  turnId: { loopId, turnIndex: 0 },
  ...more,
});

class Watched {
  readonly #live = new LiveEvents();
  readonly events: AgentEvent[] = [];

  live(...deltas: Delta[]): this {
    for (const one of deltas) this.#take(this.#live.addLive(one, ASKED));
    return this;
  }

  recorded(...events: AgentEvent[]): this {
    for (const event of events) this.#take(this.#live.addRecorded(event));
    return this;
  }

  begun(): this {
    const kind = { type: "initial" as const };
    return this.recorded(
      { type: "AgentStart", agentId: "a", sessionId: "s", loopId, continuationKind: kind, timestamp },
      { type: "TurnStart", loopId, turnIndex: 0, timestamp, triggeredBy: "user" },
    );
  }

  ended(message: AssistantMessage): this {
    return this.recorded({ type: "MessageStart", loopId, message }, { type: "MessageEnd", loopId, message });
  }

  get types(): string[] {
    return this.events.map(({ type }) => type);
  }

  /** A short label for each update. */
  get shown(): string[] {
    return this.events.flatMap((event) =>
      event.type === "MessageUpdate" ? [event.message.content.map(wordOf).join("|")] : [],
    );
  }

  #take(events: readonly AgentEvent[]): void {
    for (const event of events) {
      expect(AgentEvent.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
      this.events.push(event);
    }
  }
}

function wordOf(part: AssistantMessage["content"][number]): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "thinking":
      return `(${part.thinking})`;
    case "toolCall":
      return `${part.name}${String(part.arguments)}`;
    case "image":
    case "file":
    case "vendor":
      return part.type;
  }
}

describe("an answer while it arrives", () => {
  test("a start without text, an update for each chunk with all text so far, one end [LOOP-23.1-3, EVT-05.2, PHI-13f.2]", () => {
    const seen = new Watched()
      .begun()
      .live(delta({ type: "attempt" }), text("He"), text("llo"))
      .ended(answer());
    expect(seen.types.slice(2)).toEqual(["MessageStart", "MessageUpdate", "MessageUpdate", "MessageEnd"]);
    expect(seen.events[2]).toMatchObject({
      message: { role: "assistant", content: [], model: "m", provider: "p" },
    });
    expect(seen.events.slice(3, 5)).toMatchObject([
      { message: { content: [{ type: "text", text: "He" }] }, delta: { type: "text", delta: "He" } },
      { message: { content: [{ type: "text", text: "Hello" }] }, delta: { type: "text", delta: "llo" } },
    ]);
    expect(seen.events.at(-1)).toEqual({ type: "MessageEnd", loopId, message: answer() });
  });

  test("chunks are text, thinking or a call, whose arguments are text until the end [TYP-15.1-2]", () => {
    const call = (piece: string, toolCallId = "c", toolName = "bash") =>
      delta({ type: "tool-call", toolCallId, toolName, text: piece });
    const seen = new Watched()
      .begun()
      .live(delta({ type: "thinking", text: "h" }), delta({ type: "thinking", text: "m" }), text("So"))
      .live(call('{"a"'), call("{", "d", "edit"), call(":1}"), call("}", "d", ""));
    expect(seen.shown.at(-1)).toBe('(hm)|So|bash{"a":1}|edit{}');
    const kinds = seen.events.flatMap((event) => (event.type === "MessageUpdate" ? [event.delta] : []));
    expect(kinds.map(({ type }) => type)).toEqual([
      "thinking",
      "thinking",
      "text",
      "toolCall",
      "toolCall",
      "toolCall",
      "toolCall",
    ]);
    for (const kind of kinds) expect(StreamDelta.parse(kind)).toEqual(kind);
    expect(StreamDelta.safeParse({ type: "image", delta: "" }).success).toBe(false);
    expect(() => JSON.parse(kinds[3]?.delta ?? "")).toThrow();
  });

  test("that fails has the start that was sent and one end; without any text both are there too [LOOP-23.4, PHI-13d]", () => {
    const failed = answer({
      stopReason: "error",
      errorMessage: "gone",
      content: [{ type: "text", text: "" }],
    });
    const shown = new Watched().begun().live(text("He")).ended(failed);
    expect(shown.types.slice(2)).toEqual(["MessageStart", "MessageUpdate", "MessageEnd"]);
    expect(shown.events.at(-1)).toMatchObject({ message: { stopReason: "error", errorMessage: "gone" } });
    const silent = new Watched().begun().ended(failed);
    expect(silent.types.slice(2)).toEqual(["MessageStart", "MessageEnd"]);
  });

  test("no chunk precedes the start of its turn; an early one is part of the next update [LOOP-23.2]", () => {
    const seen = new Watched().begun().ended(answer());
    const later = { turn: 1 };
    seen.live(text("a", later));
    expect(seen.types.at(-1)).toBe("MessageEnd");
    seen.recorded({ type: "TurnStart", loopId, turnIndex: 1, timestamp, triggeredBy: "continuation" });
    seen.live(text("b", later));
    expect(seen.types.slice(-3)).toEqual(["TurnStart", "MessageStart", "MessageUpdate"]);
    expect(seen.shown).toEqual(["ab"]);
  });

  test("another attempt begins afresh under the same start, and a late chunk of an earlier attempt adds nothing [LOOP-23.1]", () => {
    const again = { attempt: 2 };
    const seen = new Watched()
      .begun()
      .live(text("wrong"), delta({ type: "attempt" }, again), text("wrong too"), text("right", again))
      .ended(answer());
    expect(seen.shown).toEqual(["wrong", "right"]);
    expect(seen.types.filter((type) => type === "MessageStart")).toHaveLength(1);
    const anew = new Watched().begun().live(text("lost"), text("kept", { generation: 2 }));
    expect(anew.shown).toEqual(["lost", "kept"]);
  });

  test("a reader that joins in the middle sees the rest", () => {
    expect(new Watched().live(text("rest")).types).toEqual(["MessageStart", "MessageUpdate"]);
  });
});

describe("a running tool", () => {
  const call = { loopId, toolCallId: "c", toolName: "bash" };
  const output = (words: string) =>
    delta({ type: "tool-output", toolCallId: "c", toolName: "bash", text: words });
  const progress = delta({ type: "progress", toolCallId: "c", toolName: "bash", text: "half" });
  const start: AgentEvent = { type: "ToolExecutionStart", ...call, args: {} };
  const end: AgentEvent = { type: "ToolExecutionEnd", ...call, result: { content: [] }, isError: false };

  test("reports its output and progress between its start and its end [EVT-06.2, EVT-06.4, EVT-14.2]", () => {
    const seen = new Watched().begun().live(output("early")).recorded(start).live(output("more"), progress);
    seen.recorded(end);
    expect(seen.events.slice(2)).toEqual([
      start,
      { type: "ToolExecutionUpdate", ...call, partialResult: { content: [{ type: "text", text: "early" }] } },
      { type: "ToolExecutionUpdate", ...call, partialResult: { content: [{ type: "text", text: "more" }] } },
      { type: "ProgressMessage", ...call, text: "half" },
      end,
    ]);
  });
});
