import { DEFAULT_PATH } from "../../platform/process/clean-environment.ts";
import { findProgram } from "../../platform/process/find-program.ts";

/** Finds the ripgrep that comes with the package, or else one on PATH. The import fails if no binary was installed. */
export async function findRipgrep(): Promise<string | undefined> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    const { PATH = DEFAULT_PATH } = process.env;
    return findProgram("rg", PATH);
  }
}
