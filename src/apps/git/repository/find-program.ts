import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin } from "./is-within.ts";

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * Finds a program on PATH, but never one of the repository's own making: `npx` puts `node_modules/.bin` of the folder that
 * it runs in before all others.
 *
 * @param outside - The folder whose programs do not count.
 */
export function findProgram(name: string, outside: string): string | undefined {
  for (const folder of (process.env["PATH"] ?? DEFAULT_PATH).split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, name);
    const real = resolveExecutable(file);
    if (real !== undefined && !isWithin(outside, real) && !isWithin(outside, file)) return file;
  }
  return undefined;
}

function resolveExecutable(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? realpathSync(file) : undefined;
  } catch {
    return undefined;
  }
}
