import type { SignalSource } from "./context.ts";

/** Calls `first` at the first Ctrl-C or SIGTERM, for a graceful end, and `second` at the second, to exit. */
export function handleInterrupts(signals: SignalSource, first: () => void, second: () => void): () => void {
  let count = 0;
  const handleSignal = (): void => {
    count += 1;
    if (count === 1) first();
    else if (count === 2) second();
  };
  signals.on("SIGINT", handleSignal);
  signals.on("SIGTERM", handleSignal);
  return () => {
    signals.off("SIGINT", handleSignal);
    signals.off("SIGTERM", handleSignal);
  };
}

/** Resolves with the first Ctrl-C or SIGTERM. */
export function waitForInterrupt(signals: SignalSource): Promise<void> {
  return new Promise((resolve) => {
    const off = handleInterrupts(
      signals,
      () => {
        off();
        resolve();
      },
      () => undefined,
    );
  });
}
