import { type ExtractedJson, extractJson } from "../platform/text/extract-json.ts";
import type { AssistantMessage } from "../schema/message.ts";

/**
 * The structured output in an answer that was accepted as one: the arguments of its one call, or the JSON value of its
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
  return extractJson(content.map((part) => (part.type === "text" ? part.text : "")).join(""), fits);
}
