import type { HoldfastWorker } from "./options.ts";

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Shuts a worker down on signals: the first signal starts an orderly shutdown, the second releases running steps at
 * once, the third ends the process.
 */
export function shutdownOnSignals(worker: Pick<HoldfastWorker, "shutdown">): void {
  let signalCount = 0;
  for (const [signal, number] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      signalCount += 1;
      if (signalCount > 2) process.exit(128 + number);
      worker.shutdown();
    });
  }
}
