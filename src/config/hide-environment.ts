import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { findSecretVariables } from "./secret-variables.ts";

// Linux exposes the initial environment of a process to every process of the same user, in /proc/PID/environ.
// `delete process.env.NAME` does not change that: the kernel reads the memory that it filled at the start. The process
// owns that memory, so it can overwrite it through /proc/self/mem.

/** Indexes of fields of /proc/PID/stat, counted after the program's name: the start and end of the environment. */
const ENV_START = 47;
const ENV_END = 48;

const MASK = "*".charCodeAt(0);

/**
 * Hides the values of secret variables from other processes. This process retains them in `process.env`, for its
 * libraries and for the programs that it starts.
 *
 * @returns The names of the secret variables that are still visible; empty on systems without /proc/self/environ.
 */
export function hideEnvironment(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  // In a thread `process.env` is a copy, and this would overwrite memory that the process still reads.
  if (!isMainThread) return [];
  const names = new Set(findSecretVariables(env).map(({ name }) => name));
  if (names.size === 0) return [];
  const environment = readInitialEnvironment();
  const values = environment === undefined ? [] : findValues(environment, names);
  if (environment === undefined || values.length === 0) return [];
  try {
    const { start, end } = readEnvironmentRange();
    if (end - start !== environment.length) return values.map(({ name }) => name);
    // Setting a variable moves it to memory that is not exposed; only then is it safe to overwrite the old memory.
    for (const { name } of values) process.env[name] = env[name] ?? "";
    const memory = openSync("/proc/self/mem", "r+");
    try {
      for (const { from, length } of values) {
        writeSync(memory, Buffer.alloc(length, MASK), 0, length, start + from);
      }
    } finally {
      closeSync(memory);
    }
  } catch {
    // The system forbids it; the result lists the variables that are still visible.
  }
  const left = readInitialEnvironment();
  return left === undefined ? [] : findValues(left, names).map(({ name }) => name);
}

function readInitialEnvironment(): Buffer | undefined {
  try {
    return readFileSync("/proc/self/environ");
  } catch {
    return undefined;
  }
}

type Value = { readonly name: string; readonly from: number; readonly length: number };

/** Finds the positions of the values of these variables, except for overwritten ones. */
function findValues(environment: Buffer, names: ReadonlySet<string>): readonly Value[] {
  const values: Value[] = [];
  for (let at = 0; at < environment.length; ) {
    const zero = environment.indexOf(0, at);
    const end = zero === -1 ? environment.length : zero;
    const equals = environment.indexOf("=", at);
    if (equals !== -1 && equals < end) {
      const name = environment.toString("utf8", at, equals);
      const value = environment.subarray(equals + 1, end);
      if (names.has(name) && value.some((byte) => byte !== MASK)) {
        values.push({ name, from: equals + 1, length: value.length });
      }
    }
    at = end + 1;
  }
  return values;
}

function readEnvironmentRange(): { readonly start: number; readonly end: number } {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { start: Number(fields[ENV_START]), end: Number(fields[ENV_END]) };
}
