import { signalGroup } from "./process-group.ts";
import { type GroupCommand, isRunning, type StartedGroup, startGroup, waitForExit } from "./start-group.ts";

/** What is to be started. */
type StartCommand = Omit<GroupCommand, "extraPipes">;

/** How a started process has ended, beyond what its exit code says. */
export type ProcessEnding =
  /** The command has run. */
  | { readonly type: "ran" }
  /** The command has not run, because its sandbox could not be made. */
  | { readonly type: "not-started"; readonly problem?: string | undefined }
  /** It was ended, or its sandbox could not be left in order. */
  | { readonly type: "failed"; readonly problem: string };

/** A process that waits until a line is written to `parentPipe`. */
export type StartedProcess = Omit<StartedGroup, "extraPipes"> & {
  /** Sends SIGTERM to the command. */
  readonly terminate: () => void;
  /** Settles when the process has ended; never rejects. */
  readonly ended: Promise<ProcessEnding>;
};

/**
 * Starts processes: directly or in a sandbox. Rejects with a `StartError`. Whoever runs a command has to be given one, so that
 * no command runs without a sandbox by omission.
 */
export type ProcessStarter = (command: StartCommand) => Promise<StartedProcess>;

/** Starts processes with the rights of this process: for programs that do not run what an agent has written. */
export const startWithoutSandbox: ProcessStarter = async (command) => {
  const { extraPipes: _, ...group } = await startGroup(command);
  const { child, pgid } = group;
  return {
    ...group,
    terminate: () => {
      if (isRunning(child)) signalGroup(pgid, "SIGTERM");
    },
    ended: waitForExit(child).then(() => ({ type: "ran" })),
  };
};
