import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";

/** A script that runs for longer hangs. */
const TIMEOUT_MS = 10_000;

/**
 * Runs each script in a subshell of its own, in the folder WORK. No program is found, and each name that bash looks up is
 * recorded with its arguments, in a file for each shell: the lines of concurrent shells would mix.
 */
const DRIVER = `
PATH=/nowhere
command_not_found_handle() { printf '%s\\0' "$#" "$@" >> "$LOG/$BASHPID"; return $STATUS; }
while IFS= read -r -d '' LOG && IFS= read -r -d '' WORK && IFS= read -r -d '' STATUS && IFS= read -r -d '' TRIED; do
  ( exec 3>&-; cd "$WORK"; eval "$TRIED"; wait ) </dev/null >/dev/null 2>&1
  printf 'done\\n' >&3
done`;

/** Finds what bash runs for a script. One bash runs all scripts, because its start takes longer than a script. */
export class BashWatcher {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-bash-")));
  #bash: ChildProcess | undefined;
  #answers: Interface | undefined;
  #count = 0;

  /** Lists the names that bash looks up, each with its arguments. @param status - The exit code of every command. */
  async listCommands(script: string, status: 0 | 1): Promise<string[][]> {
    this.#count += 1;
    const log = join(this.#folder, `ran-${this.#count}`);
    const work = join(this.#folder, `work-${this.#count}`);
    mkdirSync(log);
    mkdirSync(work);
    await this.#run([log, work, String(status), script]);
    const parts = readdirSync(log).flatMap((name) =>
      readFileSync(join(log, name), "utf8").split("\0").slice(0, -1),
    );
    rmSync(log, { recursive: true });
    rmSync(work, { recursive: true });
    const commands: string[][] = [];
    while (parts.length > 0) commands.push(parts.splice(0, Number(parts.shift())));
    return commands;
  }

  async close(): Promise<void> {
    await this.#end();
    rmSync(this.#folder, { recursive: true });
  }

  async #run(fields: readonly string[]): Promise<void> {
    if (this.#bash === undefined) {
      this.#bash = spawn("bash", ["--norc", "--noprofile", "-c", DRIVER], {
        stdio: ["pipe", "ignore", "ignore", "pipe"],
        env: {},
        detached: true,
      });
      this.#answers = createInterface({ input: this.#bash.stdio[3] as NodeJS.ReadableStream });
    }
    const answered = once(this.#answers as Interface, "line", { signal: AbortSignal.timeout(TIMEOUT_MS) });
    this.#bash.stdin?.write(fields.map((field) => `${field}\0`).join(""));
    await answered.catch(() => this.#end());
  }

  /** Ends bash with everything that it has started. */
  async #end(): Promise<void> {
    const { pid } = this.#bash ?? {};
    if (this.#bash === undefined || pid === undefined) return;
    const exited = once(this.#bash, "exit");
    process.kill(-pid, "SIGKILL");
    await exited;
    this.#bash = undefined;
  }
}
