import type { Content, StopReason } from "../schema/message.ts";

/**
 * What the vendor named, made to agree with what it sent: many servers say "stop" although they called tools, and
 * calls of the vendor's own tools are not ours to answer.
 */
export function reconcileStopReason(named: StopReason, content: readonly Content[]): StopReason {
  const calls = content.some((part) => part.type === "toolCall");
  if (named === "stop" && calls) return "toolUse";
  return named === "toolUse" && !calls ? "stop" : named;
}
