import type { AgentMessage, Content } from "../../schema/message.ts";

// What of a message can be searched for, what is searched for in it, and the place to show.

/** Of one message: what a person would remember of it. Longer outputs of tools are seldom looked for behind this. */
const MAX_TEXT_CHARS = 32_768;
const MAX_RESULT_CHARS = 8192;
const MAX_CALL_CHARS = 2048;

/** The words of a message that an index knows. What a model has thought is not among them. */
export function getSearchText(message: AgentMessage): string {
  if (message.role === "extension") return "";
  const most = message.role === "toolResult" ? MAX_RESULT_CHARS : MAX_TEXT_CHARS;
  return message.content
    .map(getPartText)
    .filter((text) => text !== "")
    .join("\n")
    .slice(0, most);
}

function getPartText(part: Content): string {
  if (part.type === "text") return part.text;
  if (part.type !== "toolCall") return "";
  const callText =
    typeof part.arguments === "string" ? part.arguments : (JSON.stringify(part.arguments) ?? "");
  return `${part.name} ${callText.slice(0, MAX_CALL_CHARS)}`;
}

/** Words that stand side by side; of the last one perhaps the beginning alone. */
export type SearchTerm = { readonly words: readonly string[]; readonly isBeginning: boolean };

/** Letters and digits make words; everything else parts them, in an index as here. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** "In quotes" side by side, any other word by itself; a star behind it asks for words that begin so. */
export function parseSearchTerms(query: string): readonly SearchTerm[] {
  const terms: SearchTerm[] = [];
  for (const [, quoted, plain] of query.matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const quotedText = quoted ?? plain ?? "";
    const words = quotedText.toLowerCase().match(WORD) ?? [];
    if (words.length > 0) terms.push({ words, isBeginning: quotedText.endsWith("*") });
  }
  return terms;
}

/** The place of a text where the first term is found, with what stands around it; its beginning where none is. */
export function buildSnippet(text: string, query: string, chars = 160): string {
  const flat = text.replace(/\s+/g, " ").trim();
  const places = parseSearchTerms(query).map(({ words }) => findWord(flat, words[0] ?? ""));
  const first = places.filter((place) => place >= 0).sort((one, other) => one - other)[0] ?? 0;
  const from = Math.max(0, first - Math.floor(chars / 4));
  const cut = flat.slice(from, from + chars);
  return `${from > 0 ? "…" : ""}${cut}${from + chars < flat.length ? "…" : ""}`;
}

/** As an index finds it: without its accents. */
function findWord(text: string, word: string): number {
  return removeAccents(text).indexOf(removeAccents(word));
}

function removeAccents(text: string): string {
  const bare = text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  // Where that changes a length, places would not be those of the text.
  return bare.length === text.length ? bare : text.toLowerCase();
}
