// Marks that a program puts before each line of an answer: of a quotation, a diff or a log, or the line's number.

/** The first line of a value, after its mark. */
const FIRST_LINE = /^([^{}[\]"'`\n]{0,39}[^{}[\]"'`\s])([ \t]*)(?=[{[])/;
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
    // A value that begins without a mark has none.
    if (/^\s*[{[]/.test(line)) return undefined;
    const [, mark, space] = FIRST_LINE.exec(line) ?? [];
    if (mark === undefined) continue;
    const unmarked = removeFrom(lines, first, chooseMark(mark, space ?? ""));
    if (unmarked !== undefined) return unmarked;
  }
  return undefined;
}

function chooseMark(mark: string, space: string): TakeMark {
  const [, first, separator = ""] = NUMBER_AND_MARK.exec(mark + space) ?? [];
  if (first === undefined) return (line) => takePrefix(line, mark + space);
  const sign = separator.trim() === "" ? separator : separator.trimStart();
  return (line, index) => {
    const [shown, number] = /^[ \t]*(\d+)/.exec(line) ?? [];
    if (shown === undefined || Number(number) !== Number(first) + index) return undefined;
    const rest = line.slice(shown.length);
    return takePrefix(sign === separator ? rest : rest.trimStart(), sign);
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
