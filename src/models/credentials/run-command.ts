import { spawn } from "node:child_process";

/** The limit for each output: a key, a token or a service account's file is far smaller. */
const MAX_OUTPUT_BYTES = 64 * 1024;

/** The time for the last output to arrive after the exit. A child process may keep the output open forever. */
const DRAIN_MS = 200;

export type CommandResult =
  | { readonly type: "printed"; readonly stdout: string; readonly stderr: string }
  | { readonly type: "exited"; readonly exit: string; readonly stdout: string; readonly stderr: string }
  | { readonly type: "not-started"; readonly reason: string }
  | { readonly type: "timed-out" }
  | { readonly type: "too-long" };

/**
 * Runs a program with the worker's own environment and empty input. If it takes too long or prints too much, the program
 * and its child processes are killed.
 */
export function runCommand(command: readonly string[], timeoutMs: number): Promise<CommandResult> {
  return new Promise((resolve) => {
    const [program = "", ...args] = command;
    const child = startProgram(program, args);
    if (typeof child === "string") return resolve({ type: "not-started", reason: child });
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const bytes = { stdout: 0, stderr: 0 };
    const timer = setTimeout(() => end({ type: "timed-out" }), timeoutMs);
    const end = (ran: CommandResult) => {
      clearTimeout(timer);
      if (ran.type === "timed-out" || ran.type === "too-long") killGroup(child.pid);
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
      end({ type: "not-started", reason: error.code ?? error.message });
    });
    let isSettled = false;
    const settle = (code: number | null, signal: NodeJS.Signals | null) => {
      if (isSettled) return;
      isSettled = true;
      const stdout = Buffer.concat(output.stdout).toString("utf8");
      const stderr = Buffer.concat(output.stderr).toString("utf8");
      if (code === 0) return end({ type: "printed", stdout, stderr });
      const exit = code === null ? `was terminated by ${signal}` : `exited with ${code}`;
      return end({ type: "exited", exit, stdout, stderr });
    };
    child.on("close", settle);
    child.on("exit", (code, signal) => setTimeout(() => settle(code, signal), DRAIN_MS));
  });
}

/** Returns the process, or the reason why it did not start. */
function startProgram(program: string, args: readonly string[]) {
  try {
    return spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  } catch (error) {
    return (error as Error).message;
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
}
