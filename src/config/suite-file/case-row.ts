import type { ProblemPlace } from "../describe-schema-issues.ts";
import type { Problem } from "../problem.ts";
import { type ProblemDetails, readSource } from "../source/source-file.ts";
import { formatPath, type Path } from "../source/source-node.ts";

/** A case as its source has it, or why the source has none at this place. */
export type CaseRow = ({ readonly value: unknown } & ProblemPlace) | { readonly problem: Problem };

/** Opens the cases of a source; each call begins with the first one. */
export type CaseSource = () => AsyncIterable<CaseRow>;

/** The longest part of a line that a problem shows. */
const MAX_EXCERPT_CHARS = 200;

/** Creates the row of a line of JSON. The line is parsed with positions only if it has a problem. */
export function createJsonRow(file: string, line: number, text: string): CaseRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const read = readLineSource(file, text);
    const [problem] = read.ok ? [] : read.problems;
    const message = problem?.message ?? "This is not JSON";
    return { problem: placeOnLine({ ...problem, kind: "parse", severity: "error", file, message }, line) };
  }
  return {
    value,
    createProblem: (path, about) => {
      const read = readLineSource(file, text);
      const problem = read.ok
        ? read.source.createProblem(path, about)
        : createPlainProblem(file, path, about);
      return placeOnLine(problem, line);
    },
  };
}

function readLineSource(file: string, text: string) {
  return readSource(text, { name: file, format: "json", env: {}, isSecret: () => false, substitutes: false });
}

/** Places the problem of a single line at its line in the file, and shortens the excerpt of a long one. */
function placeOnLine(problem: Problem, line: number): Problem {
  const { column = 1, excerpt, endColumn, ...rest } = problem;
  if (excerpt !== undefined && excerpt.length <= MAX_EXCERPT_CHARS) return { ...problem, column, line };
  return { ...rest, line, column };
}

/** Creates a row whose problems have a line, or only the number of the case. */
export function createPlainRow(
  file: string,
  value: unknown,
  { line, index }: { readonly line?: number; readonly index?: number },
): CaseRow {
  return {
    value,
    createProblem: (path, about) => ({
      ...createPlainProblem(file, index === undefined ? path : [index, ...path], about),
      ...(line === undefined ? {} : { line, column: 1 }),
    }),
  };
}

function createPlainProblem(file: string, path: Path, about: ProblemDetails): Problem {
  const { path: _place, found: _found, ...details } = about;
  return { ...details, file, ...(path.length === 0 ? {} : { field: formatPath(path) }) };
}
