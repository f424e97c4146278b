import type { StdioNull, StdioPipe } from "node:child_process";
import type { Socket } from "node:net";
import { isRunning, StartError, type StartedShell, startShell } from "../process/start-group.ts";
import { type ControlGroup, createControlGroup } from "./control-group.ts";
import type { SandboxPrograms } from "./find-sandbox-programs.ts";
import { listInheritedDescriptors } from "./inherited-descriptors.ts";

// The kernel takes some 15 milliseconds to move a process into a control group, as long as bwrap takes for a sandbox. So
// while a command runs, the shell that becomes the next one is started, moved, and left waiting. It ends with this process.

/** A shell in its control group, which becomes the first process of a sandbox's process group. */
export type SandboxShell = { readonly shell: StartedShell; readonly controlGroup: ControlGroup };

/** The descriptors of a sandbox from 4 on. */
const EXTRA_PIPES = 4;

type Programs = Pick<SandboxPrograms, "bash">;

let next: Promise<SandboxShell | undefined> | undefined;

/** Returns a shell that no other command has. Rejects with a `StartError`. */
export async function takeShell(
  stdin: number | StdioPipe | StdioNull,
  programs: Programs,
): Promise<SandboxShell> {
  if (stdin !== "ignore") return await openShell(stdin, programs);
  const waiting = next;
  next = undefined;
  const shell = holdIfRunning(await waiting) ?? (await openShell(stdin, programs));
  setImmediate(() => {
    next ??= prepareShell(programs);
  });
  return shell;
}

async function openShell(stdin: number | StdioPipe | StdioNull, { bash }: Programs): Promise<SandboxShell> {
  const place = { cwd: "/", env: {}, stdin, extraPipes: EXTRA_PIPES };
  const descriptors = listInheritedDescriptors();
  if (descriptors.length > 0 && bash === undefined) {
    throw new StartError(
      `This process has inherited the open descriptors ${descriptors.join(", ")}, which a sandbox must not contain. Install bash, or start the worker without them.`,
    );
  }
  const inherited = descriptors.length === 0 || bash === undefined ? undefined : { descriptors, bash };
  const shell = await startShell(place, inherited);
  // The shell waits for its line, and has no children yet.
  return { shell, controlGroup: await createControlGroup(shell.pgid) };
}

async function prepareShell(programs: Programs): Promise<SandboxShell | undefined> {
  try {
    const opened = await openShell("ignore", programs);
    release(opened.shell);
    return opened;
  } catch {
    // The next command tries again, and reports it.
    return undefined;
  }
}

/** Returns the shell that waits, unless something has killed it. */
function holdIfRunning(waiting: SandboxShell | undefined): SandboxShell | undefined {
  if (waiting === undefined) return undefined;
  if (!isRunning(waiting.shell.child)) {
    void waiting.controlGroup.remove();
    return undefined;
  }
  hold(waiting.shell);
  return waiting;
}

/** Lets this process end while the shell waits. */
function release({ child }: StartedShell): void {
  child.unref();
  for (const stream of child.stdio) (stream as Socket | null)?.unref();
}

function hold({ child }: StartedShell): void {
  child.ref();
  for (const stream of child.stdio) (stream as Socket | null)?.ref();
}
