import type { ChildProcess } from "node:child_process";
import { spawnScript } from "./script-process.ts";

const ENTRY = new URL("../../dist/store/transcript/postgres/postgres-transcript.js", import.meta.url).href;

/** Starts a process that runs a script on compiled code, with `PostgresTranscript` and `url`; `say` prints a line. */
export function spawnPostgresChild(url: string, script: string): ChildProcess {
  const source = `
    import { PostgresTranscript } from ${JSON.stringify(ENTRY)};
    const url = ${JSON.stringify(url)};
    const say = (line) => process.stdout.write(line + "\\n");
    ${script}`;
  return spawnScript(source);
}
