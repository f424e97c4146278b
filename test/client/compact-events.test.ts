import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentEvent } from "../../src/client/index.ts";
import { CompactEvents } from "../../src/client/read/compact-events.ts";
import { addPiece, buildEmptyAnswer, findContentIndex } from "../../src/conversation/live-answer.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import { SentSessionEvent } from "../../src/schema/session-event.ts";

const loopId = "loop-1";
const EMPTY = buildEmptyAnswer("m", "p", 0, { loopId, turnIndex: 0 });

type Piece = {
  type: "text" | "thinking" | "toolCall";
  delta: string;
  toolCallId?: string;
  toolName?: string;
};

const piece: fc.Arbitrary<Piece | "again"> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constantFrom("text", "thinking"), delta: fc.string({ maxLength: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("toolCall" as const),
      delta: fc.string({ maxLength: 4 }),
      toolCallId: fc.constantFrom("a", "b"),
      toolName: fc.constant("bash"),
    }),
  },
  { weight: 1, arbitrary: fc.constant("again" as const) },
);

/** The updates of an answer that some attempts begin again, as `session.events()` yields them. */
function toUpdates(pieces: readonly (Piece | "again")[]): AgentEvent[] {
  const updates: AgentEvent[] = [];
  let message = EMPTY;
  for (const one of pieces) {
    message = one === "again" ? EMPTY : addPiece(message, one);
    if (one === "again") continue;
    const delta = { type: one.type, delta: one.delta, index: findContentIndex(message.content, one) };
    updates.push({ type: "MessageUpdate", loopId, message, delta });
  }
  return updates;
}

/** What a reader does with the sent events, as docs/streams.md describes it. */
function follow(
  before: AssistantMessage | undefined,
  { event }: SentSessionEvent,
): AssistantMessage | undefined {
  if (event.type !== "MessageUpdate") return before;
  if ("message" in event) return event.message;
  const { delta, index = 0 } = event.delta;
  const content = (before?.content ?? []).map((part, at) => {
    if (at !== index) return part;
    if (part.type === "text") return { ...part, text: part.text + delta };
    if (part.type === "thinking") return { ...part, thinking: part.thinking + delta };
    return part.type === "toolCall" ? { ...part, arguments: String(part.arguments) + delta } : part;
  });
  return { ...EMPTY, content };
}

const withText = ({ content }: AssistantMessage) =>
  content
    .filter((part) => part.type !== "text" || part.text !== "")
    .filter((part) => part.type !== "thinking" || part.thinking !== "");

function expectSameAnswers(pieces: readonly (Piece | "again")[], skips: (at: number) => boolean): void {
  const compactEvents = new CompactEvents();
  let read: AssistantMessage | undefined;
  for (const [at, event] of toUpdates(pieces).entries()) {
    if (skips(at)) continue;
    for (const sent of compactEvents.compact({ session: "s", cursor: `c${at}`, event })) {
      expect(SentSessionEvent.parse(sent)).toEqual(sent);
      read = follow(read, sent);
    }
    if (event.type === "MessageUpdate" && withText(event.message).length > 0)
      expect(withText(read ?? EMPTY)).toEqual(withText(event.message));
  }
}

test("a reader of the compact events has the same answer after each update, also if it missed some", () => {
  fc.assert(fc.property(fc.array(piece, { maxLength: 30 }), fc.func(fc.boolean()), expectSameAnswers));
});

test("an attempt without the empty text of the one before it is another answer, although its call is the same", () => {
  const call = (delta: string): Piece => ({ type: "toolCall", delta, toolCallId: "a", toolName: "bash" });
  expectSameAnswers([{ type: "text", delta: "" }, call(""), "again", call("{")], () => false);
});

test("the updates of a long answer are together only a little longer than the answer", () => {
  const words = Array.from({ length: 2_000 }, (_, at) => `word ${at} `);
  const updates = toUpdates(words.map((delta) => ({ type: "text", delta })));
  const compactEvents = new CompactEvents();
  const sent = updates.flatMap((event) => compactEvents.compact({ session: "s", cursor: "c", event }));
  expect(sent).toHaveLength(2_000);
  expect(JSON.stringify(sent).length).toBeLessThan(words.join("").length + 2_000 * 140);
});

test("every other event is sent as it is", () => {
  const event: AgentEvent = { type: "MessageEnd", loopId, message: EMPTY };
  const one = { session: "s", cursor: "c", event };
  expect(new CompactEvents().compact(one)).toEqual([one]);
});
