import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { findSecretVariables } from "./secret-variables.ts";

// Linux shows the environment that a process was started with to every process of the same user, in /proc/PID/environ,
// and `delete process.env.NAME` changes nothing about it: the kernel reads the memory that it has once filled. That memory
// is the process's own, so it can write over it, through /proc/self/mem.

/** Fields of /proc/PID/stat, counted behind the program's name: where the environment begins and ends. */
const ENV_START = 47;
const ENV_END = 48;

const MASK = "*".charCodeAt(0);

/**
 * Hides the values of the variables that hold secrets from other processes. This process keeps them: in `process.env`,
 * for its libraries, and for what it starts.
 *
 * @returns The names of those that are still shown; none where there is no such file, as on other systems than Linux.
 */
export function hideEnvironment(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  // In a thread `process.env` is a copy, and the memory would be written over while the process still reads it.
  if (!isMainThread) return [];
  const names = new Set(findSecretVariables(env).map(({ name }) => name));
  if (names.size === 0) return [];
  const visibleNames = readInitialEnvironment();
  const values = visibleNames === undefined ? [] : findValues(visibleNames, names);
  if (visibleNames === undefined || values.length === 0) return [];
  try {
    const { start, end } = readEnvironmentRange();
    if (end - start !== visibleNames.length) return values.map(({ name }) => name);
    // Setting a variable moves it to memory that nobody is shown; only then may its old place change.
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
    // A system that forbids it: whoever asked is told by what is still there.
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

/** Where the values of these variables stand; not those that have been written over. */
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
