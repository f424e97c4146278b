import { formatAttachment, isAttachment } from "../../core/view/attachment.ts";
import type { AgentMessage, Content } from "../../schema/message.ts";
import { buildPlaceholder, MAX_REPEATED_CHARS, summariseAnswer } from "./placeholder.ts";
import type { TokenCounter } from "./token-counter.ts";
import type { Turn } from "./turns.ts";

/** The longest line of a turn, in characters: the request and its result, with the text around them. */
const MAX_LINE_CHARS = 2 * MAX_REPEATED_CHARS + 40;

/** Formats one line for a turn: the user messages, and what the answer said or did. */
export function formatTurn(turn: Turn): string {
  const parts = turn.entries.flatMap(({ message }) => listMessageTexts(message));
  return clip(`[Summary] ${parts.length === 0 ? "[No text]" : parts.join(" ")}`, MAX_LINE_CHARS);
}

/** Only parts with a name are worth more than their kind. */
function describePart(part: Content): string {
  return isAttachment(part) && part.name !== undefined ? formatAttachment(part) : part.type;
}

function listMessageTexts(message: AgentMessage): readonly string[] {
  switch (message.role) {
    case "user": {
      const contentTexts = message.content.map((part) =>
        part.type === "text" ? part.text : `[${describePart(part)}]`,
      );
      return [`User: ${clip(toOneLine(contentTexts.join(" ")), MAX_REPEATED_CHARS)}`];
    }
    case "assistant":
      return [`Assistant: ${toOneLine(summariseAnswer(message))}`];
    case "toolResult":
    case "extension":
      return [];
  }
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Clips a text without cutting a character in half. */
function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const characters = [...text.slice(0, 2 * maxChars)];
  return characters.length < maxChars ? text : `${characters.slice(0, maxChars - 1).join("")}…`;
}

/**
 * Writes one line for each turn, oldest first, until the tokens are used up (CMP-04), and a line with the number of
 * omitted turns.
 *
 * Empty when there is not even room for that.
 */
export function summarise(turns: readonly Turn[], maxTokens: number, count: TokenCounter): string {
  const fits = (text: string) => count(buildPlaceholder(text, 0)) <= maxTokens;
  const lines: string[] = [];
  for (const turn of turns) {
    const line = formatTurn(turn);
    if (!fits([...lines, line].join("\n"))) return omitTurns(lines, turns.length, fits);
    lines.push(line);
  }
  return lines.join("\n");
}

/** Returns as many of the lines as fit together with the number of the turns that are omitted. */
function omitTurns(lines: readonly string[], turnCount: number, fits: (text: string) => boolean): string {
  for (let shown = lines.length; shown >= 0; shown--) {
    const text = [...lines.slice(0, shown), `[... ${turnCount - shown} more turn(s) ...]`].join("\n");
    if (fits(text)) return text;
  }
  return "";
}
