import type { AgentMessage, Content } from "../../schema/message.ts";

// The searchable text of a message, the terms of a query, and the snippet of a match.

/** The length of a message's searchable text. Searches for later parts of long tool outputs are rare. */
const MAX_TEXT_CHARS = 32_768;
const MAX_RESULT_CHARS = 8192;
const MAX_CALL_CHARS = 2048;

/** Returns the searchable text of a message, without a model's thinking. */
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

/** Adjacent words; the last one may be only a beginning. */
export type SearchTerm = { readonly words: readonly string[]; readonly isPrefix: boolean };

/** Words consist of letters and digits; everything else separates them, as in the index. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** Parses a query: "quoted words" are adjacent, other words are separate terms, a star after a word matches beginnings. */
export function parseSearchTerms(query: string): readonly SearchTerm[] {
  const terms: SearchTerm[] = [];
  for (const [, quoted, plain] of query.matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const quotedText = quoted ?? plain ?? "";
    const words = quotedText.toLowerCase().match(WORD) ?? [];
    if (words.length > 0) terms.push({ words, isPrefix: quotedText.endsWith("*") });
  }
  return terms;
}

/** Returns the part of a text around the first term, or the text's beginning if no term is found. */
export function buildSnippet(text: string, query: string, chars = 160): string {
  const flat = text.replace(/\s+/g, " ").trim();
  const places = parseSearchTerms(query).map(({ words }) => findWord(flat, words[0] ?? ""));
  const first = places.filter((place) => place >= 0).sort((one, other) => one - other)[0] ?? 0;
  const from = Math.max(0, first - Math.floor(chars / 4));
  const cut = flat.slice(from, from + chars);
  return `${from > 0 ? "…" : ""}${cut}${from + chars < flat.length ? "…" : ""}`;
}

/** Finds a word like the index does: ignoring accents. */
function findWord(text: string, word: string): number {
  return removeAccents(text).indexOf(removeAccents(word));
}

function removeAccents(text: string): string {
  const bare = text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  // If the length changes, positions would not match the text.
  return bare.length === text.length ? bare : text.toLowerCase();
}
