import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex, Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { SpawnedGroup } from "../tool.ts";
import { Output } from "./output.ts";
import { CALL_VARIABLE, endGroup, readStartTime, signalGroup, waitUntilGone } from "./process-group.ts";

// Invariants
//   P1. The command does not start before `onSpawned` has resolved.
//   P2. The death of this process, at any moment, ends the command's process group.
//   P3. When `runSupervised` settles, no member of the group is running.
//
// The command runs in a session and process group of its own. Descriptor 3 is a pipe to this process. First
// the shell waits for a line on it: no line, no command. Then it leaves behind a watcher, which waits for the
// end of the same pipe and kills the group, and becomes the command itself, so that exit code and signal are
// the command's own. A death between the line and the watcher's start is the end of the pipe, which the
// watcher still sees. The watcher is an orphan (a program that waits for all its children must not wait for
// it), holds no output pipe and not the command's folder, ignores from its birth what a command may send to its
// own group, and does not carry the command in its arguments (`pgrep -f` must not find it).
//
// Linux and other POSIX systems; there is no such group on Windows.

const WATCH = `( read -r _ <&3; kill -KILL "-$0" ) &`;
const SCRIPT = `read -r _ <&3 || exit 137
trap '' HUP INT QUIT TERM
( cd /; exec /bin/sh -c '${WATCH}' $$ ) </dev/null >/dev/null 2>&1 || exit 137
trap - HUP INT QUIT TERM
exec "$@" 3<&-`;

/** From SIGTERM to SIGKILL. */
export const DEFAULT_GRACE_MS = 2_000;

/** What a command leaves running may still hold its last words (`> >(tee log)`); then it is ended. */
const LINGER_MS = 100;

/** What is left in the pipes once the group has ended is read at once; a daemon may hold them open for ever. */
const DRAIN_MS = 200;

export type OutputStream = "stdout" | "stderr";

export type SupervisedCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** An open file that the command reads as its input; nothing when absent. */
  readonly stdin?: number | undefined;
  readonly signal: AbortSignal;
  /** Counted from the start of the command. */
  readonly timeoutMs: number;
  readonly graceMs?: number | undefined;
  /** For each stream. */
  readonly maxOutputBytes: number;
  readonly onSpawned: (group: SpawnedGroup) => Promise<void>;
  /** Text as it comes, up to the limit. */
  readonly onOutput?: ((stream: OutputStream, text: string) => void) | undefined;
  /** Takes the bytes of stdout, all of them; none are kept then. */
  readonly takeStdout?: ((chunk: Buffer) => void) | undefined;
};

export type Supervised = {
  readonly ending: "exited" | "timed-out" | "cancelled";
  /** Null when a signal ended the command. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
};

/** The system would not start the command. */
export class StartError extends Error {
  override readonly name = "StartError";
}

type Exit = { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null };

/** Rejects with a `StartError`, and with what `onSpawned`, `onOutput` or `takeStdout` throw. */
export async function runSupervised(command: SupervisedCommand): Promise<Supervised> {
  const outputs = { stdout: new Output(command.maxOutputBytes), stderr: new Output(command.maxOutputBytes) };
  if (command.signal.aborted) return report("cancelled", { exitCode: null, signal: null }, outputs);

  const { child, pgid } = await start(command);
  const exited = exitOf(child);
  const pipe = child.stdio[3] as Duplex;
  // A command that ended before the line was written: the exit code says it all.
  pipe.on("error", () => {});

  let stopped: "timed-out" | "cancelled" | { readonly cause: unknown } | undefined;
  const timers: NodeJS.Timeout[] = [];
  const stop = (why: NonNullable<typeof stopped>) => {
    if (stopped !== undefined) return;
    stopped = why;
    if (hasEnded(child)) return;
    signalGroup(pgid, "SIGTERM");
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
    const show = (text: string) => text !== "" && command.onOutput?.(name, text);
    stream.on("data", (chunk: Buffer) =>
      guarded(() => {
        if (name === "stdout" && command.takeStdout !== undefined) command.takeStdout(chunk);
        else show(outputs[name].push(chunk));
      }),
    );
    return finished(stream).then(
      () => guarded(() => show(outputs[name].end())),
      () => guarded(() => show(outputs[name].end())),
    );
  });

  const started = claim({ pgid, startTime: readStartTime(pgid) }, command).then(
    () => {
      if (stopped !== undefined || hasEnded(child)) return;
      timers.push(setTimeout(() => stop("timed-out"), command.timeoutMs));
      pipe.write("go\n");
    },
    (cause: unknown) => stop({ cause }),
  );

  try {
    const exit = await exited;
    command.signal.removeEventListener("abort", cancel);
    for (const timer of timers) clearTimeout(timer);
    const closed = Promise.all(streams);
    if (stopped === undefined) await Promise.race([closed, pause(LINGER_MS)]);
    // The watcher is in the group and keeps its number from being given out again.
    signalGroup(pgid, "SIGKILL");
    await Promise.race([closed, pause(DRAIN_MS)]);
    child.stdout?.destroy();
    child.stderr?.destroy();
    await closed;
    await waitUntilGone(pgid);
    await started;
    if (stopped === undefined) return report("exited", exit, outputs);
    // An aborted call leaves nothing behind, not even what had left the group.
    const call = command.env[CALL_VARIABLE];
    if (call !== undefined) await endGroup({ pgid, startTime: "" }, call);
    if (typeof stopped === "object") throw stopped.cause;
    return report(stopped, exit, outputs);
  } finally {
    pipe.destroy();
  }
}

/** Even when this process was held up for longer than that, it has read what was there before the pause ends. */
async function pause(milliseconds: number): Promise<void> {
  await delay(milliseconds, undefined, { ref: false });
  await nextTurn();
  await nextTurn();
}

async function start(command: SupervisedCommand): Promise<{ child: ChildProcess; pgid: number }> {
  try {
    const child = spawn("/bin/sh", ["-c", SCRIPT, "sh", command.command, ...command.args], {
      cwd: command.cwd,
      env: command.env,
      detached: true,
      stdio: [command.stdin ?? "ignore", "pipe", "pipe", "pipe"],
    });
    if (child.pid === undefined) throw (await once(child, "error"))[0];
    return { child, pgid: child.pid };
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function claim(group: SpawnedGroup, command: SupervisedCommand): Promise<void> {
  await command.onSpawned(group);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

function report(
  ending: Supervised["ending"],
  exit: Exit,
  { stdout, stderr }: Record<OutputStream, Output>,
): Supervised {
  return {
    ending,
    ...exit,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
  };
}
