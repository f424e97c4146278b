// Marks that a program puts before each line of an answer: of a quotation, a diff or a log, a time, or the line's number.

/** The mark before the first line of a value. A part of it may be in square brackets. */
const MARK = /^(?:[^{}[\]"'`\n]|\[[^{}[\]"'`\n]{1,40}\]){1,60}(?=[{[])/;
const TIME = /\d:\d\d|\d{4}-\d\d-\d\d/;
const NUMBER_AND_MARK = /^[ \t]*(\d{1,6})([^\d\n]{0,4})$/;

const ENDS_VALUE = /(?:[}\]][;)]?|```)\s*$/;

type TakeMark = (line: string, index: number) => string | undefined;

/**
 * Removes the mark that all lines of the value have. Returns `undefined` if they have none, and "doubtful" if only some
 * have it.
 */
export function removeLineMarks(text: string): string | "doubtful" | undefined {
  const lines = text.split("\n");
  for (const [first, line] of lines.entries()) {
    const mark = MARK.exec(line)?.[0] ?? "";
    const unmarked = mark.trim() === "" ? undefined : removeFrom(lines, first, chooseMark(mark));
    if (unmarked !== undefined) return unmarked;
    // A value that begins without a mark has none.
    if (/^\s*[{[]/.test(line)) return undefined;
  }
  return undefined;
}

function chooseMark(mark: string): TakeMark {
  if (TIME.test(mark) && !/\d$/.test(mark)) return takeTimes(mark);
  const [, first, separator = ""] = NUMBER_AND_MARK.exec(mark) ?? [];
  if (first === undefined) return (line) => takePrefix(line, mark);
  const sign = separator.trim() === "" ? separator : separator.trimStart();
  return (line, index) => {
    const [shown, number] = /^[ \t]*(\d+)/.exec(line) ?? [];
    if (shown === undefined || Number(number) !== Number(first) + index) return undefined;
    const rest = line.slice(shown.length);
    return takePrefix(sign === separator ? rest : rest.trimStart(), sign);
  };
}

/** A time differs from line to line in its digits only. */
function takeTimes(mark: string): TakeMark {
  const shape = mark.replace(/[^\w\s]/g, "\\$&").replace(/\d+/g, "\\d{1,9}");
  const before = new RegExp(`^${shape}`);
  const alone = new RegExp(`^${shape.trimEnd()}\\s*$`);
  return (line) => {
    const found = before.exec(line)?.[0];
    if (found !== undefined) return line.slice(found.length);
    return alone.test(line) ? "" : undefined;
  };
}

/** An empty line has the mark without the space after it. */
function takePrefix(line: string, prefix: string): string | undefined {
  if (line.startsWith(prefix)) return line.slice(prefix.length);
  return line.trimEnd() === prefix.trimEnd() ? "" : undefined;
}

function removeFrom(
  lines: readonly string[],
  first: number,
  take: TakeMark,
): string | "doubtful" | undefined {
  const kept: string[] = [];
  for (const [index, line] of lines.slice(first).entries()) {
    const rest = take(line, index);
    if (rest === undefined) break;
    kept.push(rest);
  }
  const after = lines.slice(first + kept.length);
  // The marks are those of the value only if it ends where they do.
  const isWhole = after.every((line) => line.trim() === "") || ENDS_VALUE.test(kept.at(-1) ?? "");
  if (kept.length > 1 && isWhole) return [...lines.slice(0, first), ...kept, ...after].join("\n");
  return after.some((line) => line.trim() !== "" && take(line, kept.length) !== undefined)
    ? "doubtful"
    : undefined;
}
