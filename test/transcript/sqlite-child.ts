import type { ChildProcess } from "node:child_process";
import { spawnScript } from "./script-process.ts";

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
  return spawnScript(source);
}
