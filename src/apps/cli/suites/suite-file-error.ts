import type { Problem } from "../../../client/index.ts";
import { AgentFileError } from "../agent-file-error.ts";

/** Thrown for an invalid suite file; its problems are printed with their lines. */
export class SuiteFileError extends AgentFileError {
  constructor(file: string, problems: readonly Problem[]) {
    super(file, problems);
    this.message = `${file} is not a valid suite file.`;
  }
}
