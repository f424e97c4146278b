import type { Signals } from "./context.ts";

/** The first Ctrl-C asks for an orderly end, the second leaves. SIGTERM counts as one. */
export function onInterrupts(signals: Signals, first: () => void, second: () => void): () => void {
  let count = 0;
  const hear = (): void => {
    count += 1;
    if (count === 1) first();
    else if (count === 2) second();
  };
  signals.on("SIGINT", hear);
  signals.on("SIGTERM", hear);
  return () => {
    signals.off("SIGINT", hear);
    signals.off("SIGTERM", hear);
  };
}

/** Resolves with the first Ctrl-C or SIGTERM. */
export function interrupted(signals: Signals): Promise<void> {
  return new Promise((resolve) => {
    const off = onInterrupts(
      signals,
      () => {
        off();
        resolve();
      },
      () => undefined,
    );
  });
}
