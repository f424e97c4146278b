import type { StdioNull, StdioPipe } from "node:child_process";
import type { Socket } from "node:net";
import { type StartedShell, startShell } from "../process/start-group.ts";
import { type ControlGroup, createControlGroup } from "./control-group.ts";
import { listInheritedDescriptors } from "./inherited-descriptors.ts";

// The kernel takes some 15 milliseconds to move a process into a control group, as long as bwrap takes for a sandbox. So
// while a command runs, the shell that becomes the next one is started, moved, and left waiting. It ends with this process.

/** A shell in its control group, which becomes the first process of a sandbox's process group. */
export type SandboxShell = { readonly shell: StartedShell; readonly controlGroup: ControlGroup };

/** The descriptors of a sandbox from 4 on. */
const EXTRA_PIPES = 4;

let next: Promise<SandboxShell | undefined> | undefined;

/** Returns a shell that no other command has. Rejects with a `StartError`. */
export async function takeShell(stdin: number | StdioPipe | StdioNull): Promise<SandboxShell> {
  if (stdin !== "ignore") return await openShell(stdin);
  const waiting = next;
  next = undefined;
  const taken = await waiting;
  const isUsable =
    taken !== undefined && taken.shell.child.exitCode === null && taken.shell.child.signalCode === null;
  if (isUsable) hold(taken.shell);
  if (!isUsable) void taken?.controlGroup.remove();
  const shell = isUsable ? taken : await openShell(stdin);
  setImmediate(() => {
    next ??= prepareShell();
  });
  return shell;
}

async function openShell(stdin: number | StdioPipe | StdioNull): Promise<SandboxShell> {
  const shell = await startShell({
    cwd: "/",
    env: {},
    stdin,
    extraPipes: EXTRA_PIPES,
    emptied: listInheritedDescriptors(),
  });
  // The shell waits for its line, and has no children yet.
  return { shell, controlGroup: await createControlGroup(shell.pgid) };
}

async function prepareShell(): Promise<SandboxShell | undefined> {
  try {
    const opened = await openShell("ignore");
    release(opened.shell);
    return opened;
  } catch {
    // The next command tries again, and reports it.
    return undefined;
  }
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
