import type { StopReason } from "../../schema/message.ts";

// Whether notes that a model has written may replace what they summarise (docs/loop.md, rule 8).

/** If a text has this many distinctive words, notes that repeat none of them are about something else. */
const MIN_DISTINCTIVE_WORDS = 20;

/** Shorter notes on a long record contain no information. */
const MIN_CHARS = 20;

/** A refusal is short; notes that mention one somewhere in the middle are not. */
const REFUSAL_CHARS = 400;

const REFUSALS: readonly RegExp[] = [
  /^(?:i(?:'m| am) )?(?:very |so )?sorry\b[^.\n]{0,40}\b(?:can(?:no|')?t|cannot|unable|won't|not able)\b/,
  /^(?:unfortunately,? )?i (?:cannot|can't|can not|could not|couldn't|will not|won't|am unable to|am not able to|must decline|have to decline)\b/,
  /^i'm (?:unable|not able|not comfortable)\b/,
  /^as an ai\b/,
  /^(?:this|that|the) request (?:cannot|can't|violates)\b/,
];

/** Returns why these notes are not accepted, as the end of a sentence, or nothing. */
export function findNotesProblem(notes: string, stopReason: StopReason, record: string): string | undefined {
  const trimmed = notes.trim();
  if (stopReason === "guardRail") return "were refused by the vendor's filter";
  if (stopReason === "length") return "were cut off at the output limit";
  if (stopReason !== "stop" && stopReason !== "toolUse") return `ended with "${stopReason}"`;
  if (trimmed === "") return "have no text";
  if (isRefusal(trimmed)) return "refuse to summarize";
  const telling = extractDistinctiveWords(record);
  if (telling.size < MIN_DISTINCTIVE_WORDS) return undefined;
  if (trimmed.length < MIN_CHARS) return `have ${trimmed.length} characters only`;
  const isAbout = [...extractDistinctiveWords(trimmed)].some((word) => telling.has(word));
  return isAbout || !hasLatin(trimmed)
    ? undefined
    : "do not repeat a single word of the text that they summarize";
}

function isRefusal(notes: string): boolean {
  if (notes.length > REFUSAL_CHARS) return false;
  const words = notes.toLowerCase().replaceAll("’", "'").replace(/^\W+/, "");
  return REFUSALS.some((pattern) => pattern.test(words));
}

/** Extracts names, numbers, paths, and longer words by their beginning, so that forms of a word are equal. */
function extractDistinctiveWords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{Script=Latin}\p{N}_]{4,}/gu) ?? [];
  return new Set(words.map((word) => word.slice(0, 6)));
}

/** In a script without spaces there are no words to compare. */
function hasLatin(text: string): boolean {
  return extractDistinctiveWords(text).size >= 3;
}
