// A Python with SciPy and statsmodels, for the scripts that compare the statistics of evaluations with theirs.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { exitWith, installPythonPackages } from "./python-environment.mjs";

/** What the environment has; the packages choose those that they need. */
export const PACKAGES = ["scipy==1.17.1", "statsmodels==0.15.0", "numpy==2.4.6", "pandas==3.1.1"];

/**
 * Starts a script of this folder that reads JSON lines and answers each by one. Without Python or its packages, this program
 * ends with exit code 2.
 *
 * @param source - The Python that makes the environment, at the first time.
 */
export function startPython(script, source = "python3") {
  const python = installPythonPackages("statistics-oracle", PACKAGES, source);
  const child = spawn(python, [join(import.meta.dirname, script)], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  // If Python ends, its error is on standard error, and the missing answer ends this program.
  child.stdin.on("error", () => {});
  return {
    ask: async (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const { value: line, done } = await answers.next();
      if (done) exitWith(`${script} ended without an answer; its error is above`);
      // Python prints NaN and Infinity, which JSON does not have.
      return JSON.parse(line.replaceAll(/-?(NaN|Infinity)/g, "null"));
    },
    end: () => child.stdin.end(),
  };
}
