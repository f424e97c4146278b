import fc from "fast-check";
import type { AssistantMessage, Content, Message } from "../../../src/schema/message.ts";
import { Protocol } from "../../../src/schema/model.ts";
import { type CreateMark, createMarks, type MarkedPart, VENDOR_PARTS } from "./parts.ts";
import { VENDORS } from "./vendors.ts";

/** The content of one answer of the record, to be looked for in a request. */
export type AnswerRecord = {
  readonly protocol: Protocol;
  /** Whether it is part of the conversation: an answer that broke off is not. */
  readonly isSent: boolean;
  readonly tokens: readonly string[];
  readonly thoughts: readonly string[];
  readonly texts: readonly string[];
};

export type Conversation = {
  readonly messages: readonly Message[];
  /** The number of messages before each possible request. */
  readonly questionPositions: readonly number[];
  readonly answers: readonly AnswerRecord[];
};

/** Vendors end answers with blank text, and reject it in requests. */
const BLANK: MarkedPart = { content: [{ type: "text", text: "" }], tokens: [] };

const IMAGE: Content = { type: "image", data: "aGk=", mimeType: "image/png" };
const usage = { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };

/** Some ids are invalid for one vendor or another, and some are repeated. */
const id = fc.constantFrom(
  "call_1",
  "call_2",
  "toolu_1",
  "a|b",
  "",
  "ü".repeat(9),
  "x".repeat(70),
  "google-fc-0",
);

const step = fc.record({
  by: fc.constantFrom(...Protocol.options),
  prompt: fc.option(fc.record({ image: fc.boolean(), blank: fc.boolean() })),
  kinds: fc.array(
    fc.constantFrom("thinking" as const, "text" as const, "vendor" as const, "blank" as const),
    { maxLength: 4 },
  ),
  calls: fc.array(
    fc.record({ id, image: fc.boolean(), isError: fc.boolean(), lost: fc.boolean(), blank: fc.boolean() }),
    {
      maxLength: 3,
    },
  ),
  broken: fc.integer({ min: 0, max: 5 }).map((one) => one === 0),
  backwards: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Any conversation with answers of several vendors. */
export const anyConversation: fc.Arbitrary<Conversation> = fc
  .array(step, { minLength: 1, maxLength: 7 })
  .map((steps) => buildConversation(steps));

function buildConversation(steps: readonly Step[]): Conversation {
  const mark = createMarks();
  const messages: Message[] = [];
  const points: number[] = [];
  const answers: AnswerRecord[] = [];
  for (const [at, one] of steps.entries()) {
    // A vendor is called after a prompt, or with the results of another vendor's calls.
    if (one.prompt !== null || messages.at(-1)?.role !== "toolResult") {
      const blank: readonly Content[] = one.prompt?.blank ? [{ type: "text", text: " \n" }] : [];
      const image = one.prompt?.image ? [IMAGE] : [];
      const content = [...blank, { type: "text" as const, text: mark("PROMPT") }, ...image];
      messages.push({ role: "user", content, timestamp: at });
    }
    points.push(messages.length);
    const { message, ...holds } = answer(one, at, mark);
    answers.push(holds);
    messages.push(message);
    if (!holds.isSent) continue;
    const results = createResults(message, one, mark);
    messages.push(...(one.backwards ? results.toReversed() : results));
  }
  messages.push({ role: "user", content: [{ type: "text", text: mark("PROMPT") }], timestamp: steps.length });
  points.push(messages.length);
  return { messages, questionPositions: points, answers };
}

function answer({ by, kinds, calls, broken }: Step, timestamp: number, mark: CreateMark) {
  const make = VENDOR_PARTS[by];
  const parts = [
    ...kinds.map((kind) => (kind === "blank" ? BLANK : make[kind](mark))),
    make.text(mark),
    ...removeDuplicateIds(calls).map((call) => make.call(call.id, mark)),
  ];
  const content = parts.flatMap((part) => part.content);
  const { id: model, provider } = VENDORS[by].model;
  const stopReason = broken ? "aborted" : calls.length > 0 ? "toolUse" : "stop";
  const message: AssistantMessage = {
    role: "assistant",
    content,
    stopReason,
    model,
    provider,
    usage,
    timestamp,
  };
  return {
    message,
    protocol: by,
    isSent: !broken,
    tokens: parts.flatMap((part) => part.tokens),
    thoughts: content.flatMap((part) => (part.type === "thinking" && part.thinking ? [part.thinking] : [])),
    texts: content.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : [])),
  };
}

/** Within one answer an id occurs once. */
function removeDuplicateIds<Call extends { readonly id: string }>(calls: readonly Call[]): readonly Call[] {
  return calls.filter(({ id: one }, at) => calls.findIndex((call) => call.id === one) === at);
}

function createResults(message: AssistantMessage, { calls }: Step, mark: CreateMark): Message[] {
  return message.content.flatMap((part): Message[] => {
    if (part.type !== "toolCall") return [];
    const call = calls.find((one) => one.id === part.id);
    const resultPart = { type: "text" as const, text: call?.blank ? "" : mark("RESULT") };
    const content: Content[] = [resultPart, ...(call?.image ? [IMAGE] : [])];
    const { id: toolCallId, name: toolName } = part;
    const isError = call?.isError ?? false;
    const result = { toolCallId, toolName, content: call?.lost ? [] : content, isError };
    return [{ role: "toolResult", ...result, timestamp: message.timestamp }];
  });
}
