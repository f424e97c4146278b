import type { Problem } from "../../client/index.ts";
import { UsageError } from "./usage-error.ts";

/** Thrown for an invalid agent file; its problems are printed with their lines. */
export class AgentFileError extends UsageError {
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    super(`${file} is not a valid agent file.`);
    this.problems = problems;
  }
}
