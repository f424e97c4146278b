import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

const ENTRY = new URL("../../dist/store/transcript/sqlite/sqlite-transcript.js", import.meta.url).href;
const SQL = new URL("../../dist/store/transcript/sqlite/sqlite-connection.js", import.meta.url).href;

/**
 * Starts a process that runs a script with `SqliteTranscript`, `Sql` and `path`; `say` prints a line.
 *
 * It runs compiled code.
 */
export function spawnSqliteChild(path: string, script: string): ChildProcess {
  const source = `
    import { SqliteTranscript } from ${JSON.stringify(ENTRY)};
    import { SqliteConnection as Sql } from ${JSON.stringify(SQL)};
    const path = ${JSON.stringify(path)};
    const say = (line) => process.stdout.write(line + "\\n");
    ${script}`;
  return spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/** Returns the next line or lines. Throws if the process ends first. */
export async function readLines(process: ChildProcess): Promise<string> {
  const exitController = new AbortController();
  const data = once(process.stdout!, "data", { signal: exitController.signal });
  const leave = (code: number | null) =>
    exitController.abort(new Error(`The process ended with code ${code}`));
  process.once("close", leave);
  try {
    return String((await data)[0]).trim();
  } finally {
    process.off("close", leave);
  }
}

export async function waitForExit(process: ChildProcess): Promise<number | null> {
  if (process.exitCode !== null || process.signalCode !== null) return process.exitCode;
  const [code] = await once(process, "exit");
  return code as number | null;
}
