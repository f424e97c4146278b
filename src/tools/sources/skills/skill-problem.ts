/** Why a folder is not a skill (SKL-02), or how a skill deviates from the format. */
export type SkillFault =
  | "invalid-frontmatter"
  | "missing-field"
  | "invalid-field"
  | "unknown-key"
  /** A file in the folder, or the folder itself, is unusable. */
  | "unusable-file";

/** An error or a doubt about a skill. An error does not always prevent loading. */
export type SkillProblem = {
  readonly fault: SkillFault;
  readonly severity: "error" | "warning";
  readonly file: string;
  /** Counts from 1. Absent if the problem concerns the whole file. */
  readonly line?: number;
  readonly field?: string;
  /** A complete sentence, without position and field. */
  readonly message: string;
};

/** Formats a problem as one line: `skills/review/SKILL.md:3: error: name: …`. */
export function formatSkillProblem({ file, line, severity, field, message }: SkillProblem): string {
  const location = line === undefined ? file : `${file}:${line}`;
  return `${location}: ${severity}: ${field === undefined ? "" : `${field}: `}${message}`;
}
