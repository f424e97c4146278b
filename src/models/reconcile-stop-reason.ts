import type { Content, StopReason } from "../schema/message.ts";

/**
 * Adjusts the vendor's stop reason to the content: many servers report "stop" although they called tools, and
 * the client does not answer calls of the vendor's own tools.
 */
export function reconcileStopReason(named: StopReason, content: readonly Content[]): StopReason {
  const calls = content.some((part) => part.type === "toolCall");
  if (named === "stop" && calls) return "toolUse";
  return named === "toolUse" && !calls ? "stop" : named;
}
