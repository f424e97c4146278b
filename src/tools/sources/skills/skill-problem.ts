/** Why a folder is no skill (SKL-02), or what of it is not as the form says. */
export type SkillFault =
  | "invalid-frontmatter"
  | "missing-field"
  | "invalid-field"
  | "unknown-key"
  /** A file of the folder, or the folder itself, cannot be used. */
  | "unusable-file";

/** What is wrong, or doubtful, in a skill. What is wrong need not keep it from being loaded. */
export type SkillProblem = {
  readonly fault: SkillFault;
  readonly severity: "error" | "warning";
  readonly file: string;
  /** Counts from 1. Absent where the file as a whole is meant. */
  readonly line?: number;
  readonly field?: string;
  /** One sentence that stands for itself, without place and field. */
  readonly message: string;
};

/** `skills/review/SKILL.md:3: error: name: …`, one line. */
export function formatSkillProblem({ file, line, severity, field, message }: SkillProblem): string {
  const location = line === undefined ? file : `${file}:${line}`;
  return `${location}: ${severity}: ${field === undefined ? "" : `${field}: `}${message}`;
}
