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

const SH = "/bin/sh";

const WATCHER_SCRIPT = `( read -r _ <&3; kill -KILL "-$0" ) &`;
const WAIT_SCRIPT = `read -r _ <&3 || exit 137
trap '' HUP INT QUIT TERM
( cd /; exec ${SH} -c '${WATCHER_SCRIPT}' $$ ) </dev/null >/dev/null 2>&1 4<&- 5<&- 6<&- 7<&- || exit 137
trap - HUP INT QUIT TERM
`;
const START_SCRIPT = `${WAIT_SCRIPT}exec "$@" 3<&-`;

/** A shell that is to become a command reads it from a line before. The line has \`$n\` for each line break. */
const SHELL_SCRIPT = `n='
'
IFS= read -r line <&3 || exit 137
${WAIT_SCRIPT}eval "$line"`;

/** The system could not start the command. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export type GroupCommand = GroupPlace & {
  readonly command: string;
  readonly args: readonly string[];
};

/** Where and with what a command starts. */
export type GroupPlace = {
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
export async function startGroup({ command, args, ...place }: GroupCommand): Promise<StartedGroup> {
  return await startScript([SH], START_SCRIPT, [command, ...args], place);
}

export type StartedShell = StartedGroup & {
  /**
   * Says which command the shell becomes when the next line is written to `parentPipe`. Ends the shell and throws a `StartError`
   * for what no argument can contain.
   *
   * @param env - Variables besides those of the shell.
   * @param closed - Descriptors of the shell that the command does not get.
   */
  readonly become: (
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    closed: readonly number[],
  ) => void;
};

/** What a shell closes first. Only bash can close descriptors above 9. */
export type InheritedDescriptors = { readonly descriptors: readonly number[]; readonly bash: string };

/**
 * Starts a shell that waits for its command, so that it can be prepared before the command is known.
 *
 * @param inherited - Descriptors that it would have of this process.
 */
export async function startShell(place: GroupPlace, inherited?: InheritedDescriptors): Promise<StartedShell> {
  const group = await (inherited === undefined
    ? startScript([SH], SHELL_SCRIPT, [], place)
    : startScript(
        // Without its start files, which bash also reads with `-c` if its input is a socket.
        [inherited.bash, "--norc", "--noprofile"],
        `exec ${inherited.descriptors.map((descriptor) => `${descriptor}>&-`).join(" ")}\n${SHELL_SCRIPT}`,
        [],
        place,
      ));
  return {
    ...group,
    become: (command, env, closed) => {
      const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}; `);
      const closing = [3, ...closed].map((descriptor) => ` ${descriptor}<&-`);
      const line = `${variables.join("")}exec ${command.map(quote).join(" ")}${closing.join("")}\n`;
      if (line.includes("\0")) {
        for (const pipe of [group.parentPipe, ...group.extraPipes]) pipe.destroy();
        throw new StartError("An argument contains a NUL character");
      }
      group.parentPipe.write(line);
    },
  };
}

/** Quotes a word for the script of a shell, on one line. */
function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`).replaceAll("\n", `'"$n"'`)}'`;
}

async function startScript(
  [shell, ...options]: readonly [string, ...string[]],
  script: string,
  args: readonly string[],
  { extraPipes: count = 0, cwd, env, stdin }: GroupPlace,
): Promise<StartedGroup> {
  if (count > MAX_EXTRA_PIPES) throw new RangeError(`${count} extra pipes are more than ${MAX_EXTRA_PIPES}`);
  try {
    const child = spawn(shell, [...options, "-c", script, "sh", ...args], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: [stdin, "pipe", "pipe", "pipe", ...Array<"pipe">(count).fill("pipe")],
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

export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

export function waitForExit(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (isRunning(child)) child.once("exit", () => resolve());
    else resolve();
  });
}
