import { redact } from "./redact.ts";

/** The longest title that is derived from a text or made by a model. */
export const MAX_DERIVED_TITLE_CHARS = 60;

/** The longest title that a user may give. The server accepts 400 bytes of JSON for a summary. */
export const MAX_TITLE_CHARS = 120;

/** The characters that are read of a text: enough for a first line, whatever the text's length. */
const READ_CHARS = 4096;

/** A first sentence shorter than this ("Hi.") says too little: the next one follows it. */
const MIN_SENTENCE_CHARS = 12;

/**
 * Derives a title from the first words of a text: its first sentence or line, on one line, without Markdown, control
 * characters and what looks like a key. A longer one ends at a word with an ellipsis.
 *
 * Returns `undefined` for a text without words.
 */
export function deriveTitle(text: string, maxChars = MAX_DERIVED_TITLE_CHARS): string | undefined {
  const lines = removeControls(redact(text.slice(0, READ_CHARS)))
    .replace(/<!--.*?-->/gs, " ")
    .split("\n")
    .map(removeMarkdown);
  const first = lines.find(hasWord);
  if (first === undefined) return undefined;
  const sentence = takeSentence(first)
    .replace(/(?<=[^.])[.,;:]$/u, "")
    .trim();
  return truncateAtWord(sentence, maxChars);
}

/** Cleans a title that a user or a model gives: one line, without control characters and what looks like a key. */
export function cleanTitle(title: string): string {
  return removeControls(redact(title.slice(0, READ_CHARS)))
    .replace(/\s+/g, " ")
    .trim();
}

/** Puts the name of an agent that works for another one in front of what it was asked. */
export function addAgentName(agent: string, title: string | undefined): string {
  const name = truncateAtWord(cleanTitle(agent), MAX_DERIVED_TITLE_CHARS / 2);
  if (title === undefined || title === "") return name;
  return truncateAtWord(`${name} · ${title}`, MAX_DERIVED_TITLE_CHARS);
}

/** Truncates a text to so many characters, at the end of a word if one ends in its second half. */
export function truncateAtWord(text: string, maxChars: number): string {
  const characters = [...text];
  if (characters.length <= maxChars) return text;
  const cut = characters.slice(0, maxChars - 1).join("");
  const endsWord = /^\s/u.test(characters[maxChars - 1] ?? "");
  const lastBlank = cut.search(/\s+\S*$/u);
  const whole = !endsWord && lastBlank >= cut.length / 2 ? cut.slice(0, lastBlank) : cut;
  return `${removeHalfCharacter(whole).replace(/[\s\p{Pd}·,;:.([{"'“‘]+$/u, "")}…`;
}

/** Removes the beginning of a character whose rest was cut off: joiners, and marks that nothing may follow any more. */
function removeHalfCharacter(text: string): string {
  return text.replace(/[\u200d\ufe0f]+$/u, "");
}

/** Removes control characters, those of the writing direction, invisible ones, and halves of characters. */
function removeControls(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[\t\u00a0]/g, " ")
    .replace(/[^\P{Cc}\n]|[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu, "");
}

/** Marks at the beginning of a line: headings, quotes, lists, check boxes, rules, fences of code, tables. */
const LINE_MARKS =
  /^(?:\s|#{1,6}(?=\s)|>|[-*+](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)|```[\w+-]*$|~~~[\w+-]*$|\|)+/u;

function removeMarkdown(line: string): string {
  return line
    .replace(LINE_MARKS, "")
    .replace(/^<\/?[a-z][\w:-]*(?:\s[^>]*)?>/i, "")
    .replace(/<\/[a-z][\w:-]*>$/i, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=\S)([^*]+)(?<=\S)\*(?![\w*])/g, "$1")
    .replace(/(?<!\w)_(?=\S)([^_]+)(?<=\S)_(?!\w)/g, "$1")
    .replace(/`+/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Words that end with a full stop and no sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|dr|mr|mrs|ms|st|p|z\.b|\p{L})\.$/iu;

/** Returns the beginning of a line up to the first end of a sentence that leaves more than a greeting. */
function takeSentence(line: string): string {
  for (const { index, 0: end } of line.matchAll(/[.!?]["'”’)]?(?=\s)|[。！？]/gu)) {
    const sentence = line.slice(0, index + end.length);
    if (sentence.length >= MIN_SENTENCE_CHARS && hasWord(sentence) && !ABBREVIATION.test(sentence))
      return sentence;
  }
  return line;
}
