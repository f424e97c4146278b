// What is wrong, or doubtful, in a configuration file. The names of the kinds are an interface (CFG-27).

export type ProblemKind =
  /** The text is not TOML, JSON or YAML. */
  | "parse"
  | "missing-env-var"
  | "invalid-field"
  /** A file cannot be read. */
  | "io"
  /** Nothing says which model (CFG-30). */
  | "missing-model"
  | "unknown-key"
  /** Valid, and probably not what was meant (CFG-28). */
  | "mistake";

export type Problem = {
  readonly kind: ProblemKind;
  readonly severity: "error" | "warning";
  readonly file: string;
  /** Both count from 1. Absent where the file as a whole is meant. */
  readonly line?: number;
  readonly column?: number;
  /** Behind the last character; on the same line. */
  readonly endColumn?: number;
  /** The line as it stands in the file, keys made unreadable. */
  readonly excerpt?: string;
  /** `agent.instances[1].name` */
  readonly field?: string;
  /** As JSON, cut when long; never a key. */
  readonly found?: string;
  readonly expected?: string;
  /** The nearest right word. */
  readonly nearest?: string;
  /** Of `missing-env-var`. */
  readonly variable?: string;
  /** One sentence that stands for itself, without place and field. */
  readonly message: string;
};

/** `agent.toml:3:7: execution.max_turns: …`, one line. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, field, severity } = problem;
  const location = line === undefined ? file : `${file}:${line}:${column}`;
  return `${location}: ${severity}: ${field === undefined ? "" : `${field}: `}${problem.message}`;
}

/** Errors first kept in the order of the file: by line, then by column. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

const MAX_FOUND_CHARS = 60;

export function formatFound(value: unknown): string {
  const text = value === undefined ? "nothing" : (JSON.stringify(value) ?? String(value));
  return text.length <= MAX_FOUND_CHARS ? text : `${text.slice(0, MAX_FOUND_CHARS - 1)}…`;
}
