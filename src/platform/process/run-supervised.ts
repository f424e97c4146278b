import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { BoundedOutput } from "./bounded-output.ts";
import {
  CALL_VARIABLE,
  killGroup,
  readStartTime,
  type SpawnedGroup,
  signalGroup,
  waitUntilGone,
} from "./process-group.ts";
import type { ProcessEnding, ProcessStarter } from "./process-starter.ts";
import { StartError } from "./start-group.ts";

export { StartError };

// Invariants
//   P1. The command does not start before `onSpawned` has resolved.
//   P2. The death of this process, at any moment, ends the command's process group.
//   P3. When `runSupervised` settles, no member of the group is running.
//
// How the command is started, and what ends it when this process dies: see start-group.ts.

/** The time from SIGTERM to SIGKILL. */
export const DEFAULT_GRACE_MS = 2_000;

/** The time for processes that a command leaves running to write its last output (`> >(tee log)`). Then they are ended. */
const LINGER_TIMEOUT_MS = 100;

/** The time to read the rest of the pipes after the group has ended. A daemon could hold them open forever. */
const DRAIN_MS = 200;

type OutputStream = "stdout" | "stderr";

export type SupervisedCommand = {
  /** Decides whether the command runs in a sandbox. */
  readonly start: ProcessStarter;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** An open file that is the command's input; empty input if absent. */
  readonly stdin?: number | undefined;
  readonly signal: AbortSignal;
  /** Counted from the start of the command. */
  readonly timeoutMs: number;
  readonly graceMs?: number | undefined;
  /** The limit of each stream. */
  readonly maxOutputBytes: number;
  readonly onSpawned: (group: SpawnedGroup) => Promise<void>;
  /** Receives text as it arrives, up to the limit. */
  readonly onOutput?: ((stream: OutputStream, text: string) => void) | undefined;
  /** Receives all bytes of stdout, which are then not collected. */
  readonly onStdoutChunk?: ((chunk: Buffer) => void) | undefined;
};

export type SupervisedResult = {
  readonly ending: "exited" | "timed-out" | "cancelled";
  /** Null if a signal ended the command. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
};

type ProcessExit = { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null };

/**
 * Runs a command. Rejects with a `StartError`, also if its sandbox could not be made or was ended because it passed a bound,
 * or with the error of `onSpawned`, `onOutput` or `onStdoutChunk`.
 */
export async function runSupervised(command: SupervisedCommand): Promise<SupervisedResult> {
  const outputs = {
    stdout: new BoundedOutput(command.maxOutputBytes),
    stderr: new BoundedOutput(command.maxOutputBytes),
  };
  if (command.signal.aborted) return toResult("cancelled", { exitCode: null, signal: null }, outputs);

  const { stdin = "ignore" } = command;
  const { child, pgid, parentPipe, terminate, ended } = await command.start({ ...command, stdin });
  const exited = waitForExit(child);

  let stopped: "timed-out" | "cancelled" | { readonly cause: unknown } | undefined;
  const timers: NodeJS.Timeout[] = [];
  const stop = (reason: NonNullable<typeof stopped>) => {
    if (stopped !== undefined) return;
    stopped = reason;
    if (hasEnded(child)) return;
    terminate();
    timers.push(setTimeout(() => signalGroup(pgid, "SIGKILL"), command.graceMs ?? DEFAULT_GRACE_MS));
  };
  const guarded = (work: () => void) => {
    try {
      work();
    } catch (cause) {
      stop({ cause });
    }
  };
  const cancel = () => stop("cancelled");
  command.signal.addEventListener("abort", cancel, { once: true });
  if (command.signal.aborted) cancel();

  const streams = (["stdout", "stderr"] as const).map((name) => {
    const stream = child[name] as Readable;
    const emit = (text: string) => text !== "" && command.onOutput?.(name, text);
    stream.on("data", (chunk: Buffer) =>
      guarded(() => {
        if (name === "stdout" && command.onStdoutChunk !== undefined) command.onStdoutChunk(chunk);
        else emit(outputs[name].push(chunk));
      }),
    );
    return finished(stream).then(
      () => guarded(() => emit(outputs[name].end())),
      () => guarded(() => emit(outputs[name].end())),
    );
  });

  const started = registerGroup({ pgid, startTime: readStartTime(pgid) }, command).then(
    () => {
      if (stopped !== undefined || hasEnded(child)) return;
      timers.push(setTimeout(() => stop("timed-out"), command.timeoutMs));
      parentPipe.write("go\n");
    },
    (cause: unknown) => stop({ cause }),
  );

  try {
    const exit = await exited;
    command.signal.removeEventListener("abort", cancel);
    for (const timer of timers) clearTimeout(timer);
    const closed = Promise.all(streams);
    if (stopped === undefined) await Promise.race([closed, waitAtLeast(LINGER_TIMEOUT_MS)]);
    // The watcher is a member of the group, so its number is not reused.
    signalGroup(pgid, "SIGKILL");
    await Promise.race([closed, waitAtLeast(DRAIN_MS)]);
    child.stdout?.destroy();
    child.stderr?.destroy();
    await closed;
    await waitUntilGone(pgid);
    await started;
    const ending = await ended;
    if (ending.type !== "ran" && stopped === undefined) throw new StartError(describeEnding(ending, outputs));
    if (stopped === undefined) return toResult("exited", exit, outputs);
    // An aborted call leaves no processes, not even those that had left the group.
    const call = command.env[CALL_VARIABLE];
    if (call !== undefined) await killGroup({ pgid, startTime: "" }, call);
    if (typeof stopped === "object") throw stopped.cause;
    return toResult(stopped, exit, outputs);
  } finally {
    parentPipe.destroy();
  }
}

function describeEnding(
  ending: Exclude<ProcessEnding, { type: "ran" }>,
  { stderr }: Record<OutputStream, BoundedOutput>,
): string {
  if (ending.type === "failed") return ending.problem;
  return `The sandbox could not be made: ${ending.problem ?? (stderr.text.trim() || "bwrap gave no reason")}`;
}

/** Waits. Even if this process was blocked for longer, pending input is read before the pause ends. */
async function waitAtLeast(milliseconds: number): Promise<void> {
  await delay(milliseconds, undefined, { ref: false });
  await nextTurn();
  await nextTurn();
}

async function registerGroup(group: SpawnedGroup, command: SupervisedCommand): Promise<void> {
  await command.onSpawned(group);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function waitForExit(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

function toResult(
  ending: SupervisedResult["ending"],
  exit: ProcessExit,
  { stdout, stderr }: Record<OutputStream, BoundedOutput>,
): SupervisedResult {
  return {
    ending,
    ...exit,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutTruncated: stdout.isTruncated,
    stderrTruncated: stderr.isTruncated,
  };
}
