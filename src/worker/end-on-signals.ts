import type { HoldfastWorker } from "./options.ts";

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/** The first signal asks for an orderly end, the second has what runs handed back at once, the third leaves it. */
export function endOnSignals(worker: Pick<HoldfastWorker, "shutdown">): void {
  let heard = 0;
  for (const [signal, number] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      heard += 1;
      if (heard > 2) process.exit(128 + number);
      worker.shutdown();
    });
  }
}
