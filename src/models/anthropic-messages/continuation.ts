import { addUsage } from "../../core/budget/usage.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { StreamOptions } from "../provider.ts";

// An answer that the vendor pauses while its own tools work, and continues when it is asked again with what it has
// said so far.

/** Of one answer. The vendor pauses after some ten rounds of its tools. */
export const MAX_CONTINUATIONS = 8;

/** Calls of ours must be answered first, and of nothing nobody goes on. */
export function canContinue({ content }: AssistantMessage): boolean {
  return content.length > 0 && content.every(({ type }) => type !== "toolCall");
}

/** One answer of two parts. Each part was paid for. */
export function joinAnswers(before: AssistantMessage, after: AssistantMessage): AssistantMessage {
  return {
    ...after,
    content: [...before.content, ...after.content],
    // The part before is in the question again.
    usage: addUsage(before.usage, after.usage),
    longestQuestion: after.longestQuestion ?? countInputTokens(after),
    timestamp: before.timestamp,
  };
}

function countInputTokens({ usage: { input, cacheRead, cacheWrite } }: AssistantMessage): number {
  return input + cacheRead + cacheWrite;
}

/** The deltas of a later part belong behind the blocks that are there. */
export function shiftDeltas(options: StreamOptions, before: AssistantMessage | undefined): StreamOptions {
  const { onDelta } = options;
  if (before === undefined || onDelta === undefined) return options;
  const { length } = before.content;
  return { ...options, onDelta: (delta) => onDelta({ ...delta, index: delta.index + length }) };
}
