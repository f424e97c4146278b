import { type ChildProcess, type StdioNull, type StdioPipe, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex } from "node:stream";

// The command runs in a session and process group of its own. Descriptor 3 is a pipe to this process. The shell
// first waits for a line on it; without a line the command does not start. Then the shell starts a watcher, which
// waits for the end of the same pipe and kills the group, and becomes the command itself, so that exit code and
// signal are the command's own. If this process dies between the line and the watcher's start, the watcher still
// sees the end of the pipe. The watcher is an orphan (a program that waits for all its children must not wait for
// it), holds no output pipe and not the command's folder, ignores from its start the signals that a command may
// send to its own group, and does not contain the command in its arguments (`pgrep -f` must not find it).
//
// This works on Linux and other POSIX systems. Windows has no process groups.

const WATCHER_SCRIPT = `( read -r _ <&3; kill -KILL "-$0" ) &`;
const START_SCRIPT = `read -r _ <&3 || exit 137
trap '' HUP INT QUIT TERM
( cd /; exec /bin/sh -c '${WATCHER_SCRIPT}' $$ ) </dev/null >/dev/null 2>&1 4<&- 5<&- 6<&- 7<&- || exit 137
trap - HUP INT QUIT TERM
exec "$@" 3<&-`;

/** The system could not start the command. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export type GroupCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** An open file, or a pipe to this process. */
  readonly stdin: number | StdioPipe | StdioNull;
  /** How many pipes the command has from descriptor 4 on; none by default. */
  readonly extraPipes?: number;
};

/** The watcher closes this many: a pipe that it held would not end with the command. */
const MAX_EXTRA_PIPES = 4;

export type StartedGroup = {
  readonly child: ChildProcess;
  readonly pgid: number;
  /** A line on this pipe starts the command; its end kills the group. */
  readonly parentPipe: Duplex;
  /** This process's ends of the extra pipes. Their errors are ignored: the command may end before it has read them. */
  readonly extraPipes: readonly Duplex[];
};

/** Starts a command that waits until a line is written to `parentPipe`. Rejects with a `StartError`. */
export async function startGroup(command: GroupCommand): Promise<StartedGroup> {
  const { extraPipes: count = 0 } = command;
  if (count > MAX_EXTRA_PIPES) throw new RangeError(`${count} extra pipes are more than ${MAX_EXTRA_PIPES}`);
  try {
    const child = spawn("/bin/sh", ["-c", START_SCRIPT, "sh", command.command, ...command.args], {
      cwd: command.cwd,
      env: { ...command.env },
      detached: true,
      stdio: [command.stdin, "pipe", "pipe", "pipe", ...Array<"pipe">(count).fill("pipe")],
    });
    if (child.pid === undefined) throw (await once(child, "error"))[0];
    const [parentPipe, ...extraPipes] = child.stdio.slice(3) as unknown as [Duplex, ...Duplex[]];
    // The command can end before the line is written; its exit code is sufficient then.
    for (const pipe of [parentPipe, ...extraPipes]) pipe.on("error", () => {});
    return { child, pgid: child.pid, parentPipe, extraPipes };
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
