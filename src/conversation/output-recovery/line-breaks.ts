const ESCAPED_BREAK = /(?<!\\)(?:\\\\)*\\n/;

/** A program that wraps lines leaves none that is shorter. */
const MIN_WIDTH = 20;

/** No program breaks a line whose next word would fit within this share of the width. */
const CERTAIN_SHARE = 0.3;

/** What an author begins a line with: an empty line, a sign of Markdown, an indentation. */
const BEGINS_LINE = /^(?:[ \t\n>#*|`~-]|\d+[.)] )/;

/**
 * Reports whether a program may have put in the line breaks within the texts of an answer, so that they are not the
 * author's: the author writes them as `\n`, or none of them is one that only an author puts in.
 *
 * @param breaks - The positions of the line breaks within texts.
 */
export function areBreaksDoubtful(text: string, breaks: readonly number[]): boolean {
  if (breaks.length === 0) return false;
  if (ESCAPED_BREAK.test(text)) return true;
  const width = text.split("\n").reduce((most, line) => Math.max(most, line.trimEnd().length), 0);
  return width >= MIN_WIDTH && !breaks.some((at) => isOfAuthor(text, at, width));
}

function isOfAuthor(text: string, at: number, width: number): boolean {
  const next = text.slice(at + 1, at + 1 + width);
  const line = at - (text.lastIndexOf("\n", at - 1) + 1);
  const word = /^\S*/.exec(next)?.[0] ?? "";
  return BEGINS_LINE.test(next) || line + 1 + word.length <= CERTAIN_SHARE * width;
}
