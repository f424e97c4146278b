import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { constants } from "node:os";
import { isAlive } from "./folder-lock.ts";

// Invariants
//   I1. The server ends when this process ends, in whatever way: it runs as long as a pipe from this process is open.
//   I2. A Ctrl-C at the terminal does not reach the server: workers drain first.
//   I3. A temporary folder is removed after the server's end, even if this process has died.

/** The longest wait for an orderly shutdown before the server is killed, in tenths of a second. */
const GRACE_TENTHS = 50;

/**
 * Runs the server ($2...) and waits for it. Stops it when stdin is closed. $1 is a folder to remove, or empty.
 *
 * A second shell reads the pipe, because a shell that waits cannot read.
 */
const SUPERVISOR_SCRIPT = `
folder=$1; shift
"$@" 3<&- </dev/null &
server=$!
trap 'kill -TERM "$server" 2>/dev/null' TERM INT HUP
(
  trap - TERM INT HUP
  read -r _ <&3
  kill -TERM "$server" 2>/dev/null
  tenths=0
  while kill -0 "$server" 2>/dev/null && [ "$tenths" -lt ${GRACE_TENTHS} ]; do
    sleep 0.1; tenths=$((tenths + 1))
  done
  kill -KILL "$server" 2>/dev/null
) >/dev/null 2>&1 &
reader=$!
exec 3<&-
wait "$server"; code=$?
while kill -0 "$server" 2>/dev/null; do wait "$server"; code=$?; done
kill "$reader" 2>/dev/null
[ -z "$folder" ] || rm -rf "$folder"
exit "$code"
`;

/** The supervisor's name in its command line. */
const SUPERVISOR_NAME = "holdfast-server";

/** A running server and its supervisor. */
export interface ServerProcess {
  /** The supervisor's process id. It ends shortly after the server. */
  readonly pid: number;
  /** Resolves when the server and its supervisor have ended, with a text that says how the server ended. */
  readonly ended: Promise<string>;
  isRunning(): boolean;
  stop(): Promise<void>;
}

/** @param temporaryFolder - A folder to remove after the server's end. */
export async function spawnServer(
  binary: string,
  args: readonly string[],
  logFile: string,
  temporaryFolder: string | undefined,
): Promise<ServerProcess> {
  const log = openSync(logFile, "a", 0o600);
  let child: ChildProcess;
  try {
    const shell = `exec 3<&0\n${SUPERVISOR_SCRIPT}`;
    child = spawn("/bin/sh", ["-c", shell, SUPERVISOR_NAME, temporaryFolder ?? "", binary, ...args], {
      stdio: ["pipe", log, log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
  const ended = new Promise<string>((resolve) => {
    child.once("close", (code, signal) => resolve(formatExit(code, signal)));
    // Also emitted later if the process cannot be signalled.
    child.on("error", (error) => resolve(error.message));
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  // Neither the child nor the pipe keeps this process alive. When it exits, the pipe breaks, and the server ends (I1).
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  child.stdin?.on("error", () => {});
  return {
    pid: child.pid as number,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      child.ref();
      child.stdin?.end();
      await ended;
    },
  };
}

/** Formats an exit. A shell reports a program that a signal ended as 128 plus the signal's number. */
function formatExit(code: number | null, signal: NodeJS.Signals | null): string {
  const number = code !== null && code > 128 ? code - 128 : undefined;
  const signalName = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  const by = signal ?? signalName;
  return by === undefined ? `with code ${code}` : `by ${by}`;
}

/** Checks whether a process id, possibly recorded before a reboot, is that of a supervisor. */
export async function isSupervisor(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform !== "linux") return true;
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return command.split("\0").includes(SUPERVISOR_NAME);
}

/** Reads the end of a log file, for an error message. */
export async function readLogTail(logFile: string, bytes?: number): Promise<string> {
  try {
    const handle = await open(logFile, "r");
    try {
      return await readTail(handle, bytes);
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}

/** Reads the end of an open file, which may have been removed meanwhile. */
export async function readTail(file: FileHandle, bytes = 2_000): Promise<string> {
  const { size } = await file.stat();
  const length = Math.min(size, bytes);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString().trim();
}

/** Removes Go's stack traces, in which a line with a function precedes an indented line with its file; the reason stays. */
export function dropStack(log: string): string {
  return log.replace(/^\S.*\n\t\S+:\d+.*(\n|$)/gm, "").trim();
}
