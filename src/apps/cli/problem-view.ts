import type { Problem } from "../../client/index.ts";
import { type Palette, stripControls } from "./palette.ts";
import { formatCount } from "./text.ts";

/** Formats a problem of a file for display: the message, the position, and the line with a mark below it. */
export function formatProblem(problem: Problem, paint: Palette): readonly string[] {
  const { severity, field, message, file, line, column = 1, endColumn = column + 1, excerpt } = problem;
  const colour = severity === "error" ? paint.red : paint.yellow;
  const what = `${field === undefined ? "" : `${field}: `}${message}`;
  const head = `${colour(paint.bold(severity))}: ${stripControls(what)}`;
  if (line === undefined || excerpt === undefined) return [head, paint.dim(`  --> ${file}`)];
  const margin = " ".repeat(String(line).length);
  const width = Math.max(1, Math.min(endColumn, excerpt.length + 1) - column);
  // Tabs stay tabs, so that the mark aligns with the text above it.
  const before = excerpt.slice(0, column - 1).replace(/[^\t]/g, " ");
  return [
    head,
    paint.dim(`${margin}--> ${file}:${line}:${column}`),
    `${paint.dim(`${line} |`)} ${stripControls(excerpt)}`,
    `${paint.dim(`${margin} |`)} ${before}${colour("^".repeat(width))}`,
  ];
}

/** Formats all problems, separated by empty lines, with their counts at the end. */
export function formatProblems(problems: readonly Problem[], paint: Palette): readonly string[] {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  const counts = [
    ...(errors === 0 ? [] : [paint.red(formatCount(errors, "error"))]),
    ...(warnings === 0 ? [] : [paint.yellow(formatCount(warnings, "warning"))]),
  ];
  return [...problems.flatMap((problem) => [...formatProblem(problem, paint), ""]), counts.join(", ")];
}
