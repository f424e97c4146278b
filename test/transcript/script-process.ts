import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** Starts a process that runs a script. `readLines` returns its output, also after its end. */
export function spawnScript(source: string): ChildProcess {
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  // When a process ends, Node drops output that nobody has read, unless somebody waits for it to be readable.
  child.stdout.on("readable", () => undefined);
  return child;
}

/** Returns the next line or lines of a process of `spawnScript`. Throws if the process ends first. */
export async function readLines(process: ChildProcess): Promise<string> {
  const stdout = process.stdout!;
  for (;;) {
    const chunk = stdout.read() as Buffer | null;
    if (chunk !== null) return String(chunk).trim();
    if (stdout.closed) throw new Error(`The process ended with code ${await waitForExit(process)}`);
    const either = new AbortController();
    const { signal } = either;
    await Promise.race([once(stdout, "readable", { signal }), once(stdout, "close", { signal })]).finally(
      () => either.abort(),
    );
  }
}

export async function waitForExit(process: ChildProcess): Promise<number | null> {
  if (process.exitCode !== null || process.signalCode !== null) return process.exitCode;
  const [code] = await once(process, "exit");
  return code as number | null;
}
