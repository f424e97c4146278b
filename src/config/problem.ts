import { truncateText } from "../platform/text/truncate-text.ts";

// Errors and warnings of a configuration file. The names of the kinds are a public interface (CFG-27).

/** What kind of mistake a configuration file has. */
export type ProblemKind =
  /** The text is not TOML, JSON or YAML. */
  | "parse"
  | "missing-env-var"
  | "invalid-field"
  /** A file cannot be read. */
  | "io"
  /** No model is specified (CFG-30). */
  | "missing-model"
  | "unknown-key"
  /** Valid, but probably a mistake (CFG-28). */
  | "mistake";

/** One error or warning of a configuration file, with its place. */
export type Problem = {
  /** The kind, for code. */
  readonly kind: ProblemKind;
  /** An `error` makes the file unusable; a `warning` does not. */
  readonly severity: "error" | "warning";
  /** The path of the file as it was passed in. */
  readonly file: string;
  /** Line and column count from 1. Absent if the problem concerns the whole file. */
  readonly line?: number;
  /** The column of the first character, from 1. */
  readonly column?: number;
  /** The column after the last character, on the same line. */
  readonly endColumn?: number;
  /** The line of the file, with keys masked. */
  readonly excerpt?: string;
  /** The path of the field: `agent.instances[1].name`. */
  readonly field?: string;
  /** The value found, as JSON, truncated if long; never a key. */
  readonly found?: string;
  /** What the field accepts, as a phrase. */
  readonly expected?: string;
  /** The nearest valid name. */
  readonly nearest?: string;
  /** The name of the variable, for `missing-env-var`. */
  readonly variable?: string;
  /** One self-contained sentence, without position and field. */
  readonly message: string;
};

/** Formats a problem as one line: `agent.toml:3:7: execution.max_turns: …`. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, field, severity } = problem;
  const location = line === undefined ? file : `${file}:${line}:${column}`;
  return `${location}: ${severity}: ${field === undefined ? "" : `${field}: `}${problem.message}`;
}

/** Sorts problems by line, then by column. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

const MAX_FOUND_CHARS = 60;

export function formatFound(value: unknown): string {
  const text = value === undefined ? "nothing" : (JSON.stringify(value) ?? String(value));
  return truncateText(text, MAX_FOUND_CHARS);
}
