const ESCAPED_BREAK = /(?<!\\)(?:\\\\)*\\n/;

/** A program that wraps lines leaves none that is shorter. */
const MIN_WIDTH = 20;

/**
 * Reports whether a program may have put in the line breaks within the texts of an answer, so that they are not the
 * author's: it writes its own as `\n`, or all of them stand where a line would have been too long.
 *
 * @param breaks - The positions of the line breaks within texts.
 */
export function areBreaksDoubtful(text: string, breaks: readonly number[]): boolean {
  if (breaks.length === 0) return false;
  if (ESCAPED_BREAK.test(text)) return true;
  const width = text.split("\n").reduce((most, line) => Math.max(most, line.trimEnd().length), 0);
  return width >= MIN_WIDTH && breaks.every((at) => isWrappedAt(text, at, width));
}

function isWrappedAt(text: string, at: number, width: number): boolean {
  const line = at - (text.lastIndexOf("\n", at - 1) + 1);
  const word = /^\S*/.exec(text.slice(at + 1, at + 1 + width))?.[0] ?? "";
  return line + 1 + word.length > width;
}
