import type { Logger } from "../../platform/log.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";

/** What operators search for in a text: whether the model was asked to end it with suggestions, and did (IRON-15). */
const SUGGESTIONS = "<suggestions>";

/**
 * Logs one line for each answer, so that operators find a loop that goes astray. Logs the amount of text, never the
 * text.
 */
export function logAnswer(
  log: Logger,
  at: { readonly session: string; readonly loopId: string; readonly turn: number },
  { content }: AssistantMessage,
): void {
  const text = joinText(content);
  const tools = content.flatMap((part) => (part.type === "toolCall" ? [part.name] : []));
  if (tools.length > 0) log.debug({ ...at, tools, hasContent: text !== "" }, "The model made tool calls");
  else {
    const facts = { length: text.length, hasSuggestions: text.includes(SUGGESTIONS) };
    log.debug({ ...at, ...facts }, "The model answered with text");
  }
}
