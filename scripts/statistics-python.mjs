// A Python with SciPy and statsmodels, for the scripts that compare the statistics of evaluations with theirs.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** What the environment has; the packages choose those that they need. */
export const PACKAGES = ["scipy==1.17.1", "statsmodels==0.15.0", "numpy==2.4.6", "pandas==3.1.1"];

/**
 * Starts a script of this folder that reads JSON lines and answers each by one. Without Python or its packages, this program
 * ends with exit code 2.
 *
 * @param source - The Python that makes the environment, at the first time.
 */
export function startPython(script, source = "python3") {
  const python = installPackages(source);
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

/** Returns the Python of an environment with the packages. Its name has their versions: other versions get another one. */
function installPackages(source) {
  const cache = process.env.HOLDFAST_CACHE || join(homedir(), ".cache", "holdfast");
  const environment = join(cache, `statistics-oracle-${PACKAGES.join("-").replaceAll("==", "-")}`);
  const python = join(environment, "bin", "python");
  // Written last, so that an incomplete environment is made again.
  const stamp = join(environment, "complete");
  if (existsSync(stamp)) return python;
  process.stderr.write(`installing ${PACKAGES.join(", ")} in ${environment}\n`);
  mkdirSync(cache, { recursive: true });
  rmSync(environment, { recursive: true, force: true });
  run(source, ["-m", "venv", environment]);
  run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PACKAGES]);
  writeFileSync(stamp, "");
  return python;
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (status !== 0)
    exitWith(`${command} ${args.join(" ")} failed: ${error?.message ?? `exit code ${status}`}`);
}

function exitWith(message) {
  console.error(message);
  process.exit(2);
}
