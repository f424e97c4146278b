/**
 * Characters that a reader does not see and a model does: control characters, direction marks, zero-width blanks,
 * and Unicode tags, which have been used to hide whole sentences. Joiners that letters and emoji need are allowed.
 */
const INVISIBLE_CHARS =
  /(?![\n\t])[\p{Cc}\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

/** Half of a surrogate pair. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Makes a text safe to encode as UTF-8 and decode again. */
export function toWellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, "\uFFFD");
}

/** Removes invisible characters from a server's text, and cuts it at a character boundary. */
export function sanitiseText(text: string, maxChars: number): string {
  const plain = toWellFormed(text).replace(/\r\n?/g, "\n").replace(INVISIBLE_CHARS, "");
  if (plain.length <= maxChars) return plain;
  return `${plain.slice(0, maxChars - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
