// An environment of Python with packages from PyPI, for scripts that compare with them. It is made once, in the cache folder.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Returns the Python of an environment with the packages. Its name has their versions: other versions get another one. Without
 * Python or its packages, this program ends with exit code 2.
 *
 * @param source - The Python that makes the environment, at the first time.
 */
export function installPythonPackages(name, packages, source = "python3") {
  const cache = process.env.HOLDFAST_CACHE || join(homedir(), ".cache", "holdfast");
  const environment = join(cache, [name, ...packages].join("-").replaceAll("==", "-"));
  const python = join(environment, "bin", "python");
  // Written last, so that an incomplete environment is made again.
  const stamp = join(environment, "complete");
  if (existsSync(stamp)) return python;
  process.stderr.write(`installing ${packages.join(", ")} in ${environment}\n`);
  mkdirSync(cache, { recursive: true });
  rmSync(environment, { recursive: true, force: true });
  run(source, ["-m", "venv", environment]);
  run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages]);
  writeFileSync(stamp, "");
  return python;
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  exitWith(`${command} ${args.join(" ")} failed: ${error?.message ?? `exit code ${status}`}`);
}

/** Ends this program because it cannot run on this machine. */
export function exitWith(message) {
  console.error(message);
  process.exit(2);
}
