import type { HoldfastWorker } from "./options.ts";

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/** The first signal asks for an orderly end, the second has what runs handed back at once, the third leaves it. */
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
