/**
 * What no reader sees and a model does: control characters, what turns the direction of writing, blanks of no width,
 * and the tags of Unicode, in which whole sentences have been hidden. Joiners that letters and emoji need stay.
 */
const INVISIBLE_CHARS =
  /(?![\n\t])[\p{Cc}\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

/** Half of a character that needs two. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** What can be written as UTF-8 and read back. */
export function toWellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, "\uFFFD");
}

/** Words of a server, without what nobody sees, and cut at a character's edge. */
export function sanitiseText(text: string, maxChars: number): string {
  const plain = toWellFormed(text).replace(/\r\n?/g, "\n").replace(INVISIBLE_CHARS, "");
  if (plain.length <= maxChars) return plain;
  return `${plain.slice(0, maxChars - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
