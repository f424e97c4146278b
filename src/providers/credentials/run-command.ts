import { spawn } from "node:child_process";

/** Of each output: a key, a token or a service account's file is far smaller. */
const MAX_OUTPUT_BYTES = 64 * 1024;

export type Ran =
  | { readonly type: "printed"; readonly stdout: string; readonly stderr: string }
  | { readonly type: "exited"; readonly how: string; readonly stdout: string; readonly stderr: string }
  | { readonly type: "not-started"; readonly why: string }
  | { readonly type: "timed-out" }
  | { readonly type: "too-long" };

/**
 * Runs a program with the worker's own environment and nothing to read. What it has started ends with it when it takes
 * too long or prints too much.
 */
export function runCommand(words: readonly string[], timeoutMs: number): Promise<Ran> {
  return new Promise((resolve) => {
    const [program = "", ...args] = words;
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const bytes = { stdout: 0, stderr: 0 };
    const timer = setTimeout(() => end({ type: "timed-out" }), timeoutMs);
    const end = (ran: Ran) => {
      clearTimeout(timer);
      if (ran.type === "timed-out" || ran.type === "too-long") endGroup(child.pid);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      resolve(ran);
    };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (part: Buffer) => {
        bytes[name] += part.length;
        if (bytes[name] <= MAX_OUTPUT_BYTES) output[name].push(part);
        else if (name === "stdout") end({ type: "too-long" });
      });
      child[name].on("error", () => undefined);
    }
    child.on("error", (error: NodeJS.ErrnoException) => {
      end({ type: "not-started", why: error.code ?? error.message });
    });
    child.on("close", (code, signal) => {
      const stdout = Buffer.concat(output.stdout).toString("utf8");
      const stderr = Buffer.concat(output.stderr).toString("utf8");
      if (code === 0) return end({ type: "printed", stdout, stderr });
      const how = code === null ? `was ended by ${signal}` : `exited with ${code}`;
      return end({ type: "exited", how, stdout, stderr });
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
