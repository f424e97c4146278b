/** What a screen does when the process gives the terminal away, and takes it back. */
export type TerminalOwner = {
  /** Restores the terminal's modes; called any number of times. */
  readonly release: () => void;
  readonly takeBack: () => void;
};

/** After this time without a stop, the process was not stopped: it has no shell that could continue it. */
const STOP_TIMEOUT_MS = 300;

/**
 * Restores the terminal whenever the process ends or is stopped, also by an error that nobody handles, and takes it back
 * when the process continues.
 *
 * @returns A function that ends this.
 */
export function guardTerminal({ release, takeBack }: TerminalOwner): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const onContinue = (): void => {
    if (!isStopped) return;
    isStopped = false;
    clearTimeout(timer);
    process.on("SIGTSTP", onStop);
    takeBack();
  };
  const onStop = (): void => {
    isStopped = true;
    release();
    // Without a listener, the signal stops the process here.
    process.off("SIGTSTP", onStop);
    process.kill(process.pid, "SIGTSTP");
    timer = setTimeout(onContinue, STOP_TIMEOUT_MS);
  };
  process.on("SIGTSTP", onStop);
  process.on("SIGCONT", onContinue);
  process.on("exit", release);
  process.on("uncaughtExceptionMonitor", release);
  return () => {
    clearTimeout(timer);
    process.off("SIGTSTP", onStop);
    process.off("SIGCONT", onContinue);
    process.off("exit", release);
    process.off("uncaughtExceptionMonitor", release);
  };
}

/** Stops the process and its group, as the shell does at Ctrl-Z outside of the raw mode. */
export function suspendGroup(): void {
  process.kill(0, "SIGTSTP");
}
