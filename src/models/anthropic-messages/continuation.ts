import { addUsage } from "../../core/budget/usage.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { StreamOptions } from "../provider.ts";

// Continues an answer that the vendor pauses while its own tools work. The vendor continues when the request is sent again
// with the content so far.

/** The limit for one answer. The vendor pauses after about ten rounds of its tools. */
export const MAX_CONTINUATIONS = 8;

/** Client calls must be answered first, and an empty answer cannot be continued. */
export function canContinue({ content }: AssistantMessage): boolean {
  return content.length > 0 && content.every(({ type }) => type !== "toolCall");
}

/** Joins two parts of an answer. The usage of both parts counts. */
export function joinAnswers(before: AssistantMessage, after: AssistantMessage): AssistantMessage {
  return {
    ...after,
    content: [...before.content, ...after.content],
    // The second request contains the first part again.
    usage: addUsage(before.usage, after.usage),
    longestQuestion: after.longestQuestion ?? countInputTokens(after),
    timestamp: before.timestamp,
  };
}

function countInputTokens({ usage: { input, cacheRead, cacheWrite } }: AssistantMessage): number {
  return input + cacheRead + cacheWrite;
}

/** Shifts the deltas of a later part to follow the existing blocks. */
export function shiftDeltas(options: StreamOptions, before: AssistantMessage | undefined): StreamOptions {
  const { onDelta } = options;
  if (before === undefined || onDelta === undefined) return options;
  const { length } = before.content;
  return { ...options, onDelta: (delta) => onDelta({ ...delta, index: delta.index + length }) };
}
