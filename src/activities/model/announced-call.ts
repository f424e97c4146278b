import { announcesToolCall } from "../../core/machine/tool-intent.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage } from "../../schema/message.ts";

/**
 * Returns whether an answer announces a tool call that it could have made and did not make (IRON-10). The text stays
 * in the activity; the machine gets only the verdict.
 *
 * @param tools - The number of tools that the model was offered.
 */
export function announcesMissingCall(
  { content, stopReason }: AssistantMessage,
  { nudges }: Pick<AgentDefinition, "nudges">,
  tools: number,
): boolean {
  if (!nudges.enabled || tools === 0 || stopReason !== "stop") return false;
  if (content.some(({ type }) => type === "toolCall")) return false;
  return announcesToolCall(content.map((part) => (part.type === "text" ? part.text : "")).join(""));
}
