import { type ExtractedJson, extractJson } from "../platform/text/extract-json.ts";
import type { AssistantMessage } from "../schema/message.ts";
import { joinText } from "../schema/message-text.ts";

/**
 * Returns the structured output of an accepted answer: the arguments of its only call, or the JSON value in its
 * text.
 *
 * @param fits - Chooses among several values of a text.
 */
export function extractOutput(
  { content }: Pick<AssistantMessage, "content">,
  fits?: (value: unknown) => boolean,
): ExtractedJson {
  const call = content.find((part) => part.type === "toolCall");
  if (call !== undefined) return { type: "found", value: call.arguments };
  return extractJson(joinText(content), fits);
}
