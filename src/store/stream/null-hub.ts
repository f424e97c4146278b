import type { Delta, OffsetDelta, Snapshot, StreamHub, WatchOptions } from "./stream.ts";

/** A hub that keeps nothing: for runs that nobody watches. */
export class NullHub implements StreamHub {
  publish(_delta: Delta): void {}

  async flush(): Promise<void> {}

  async snapshot(): Promise<Snapshot> {
    return { deltas: [], offset: 0 };
  }

  async *watch({ signal }: WatchOptions): AsyncGenerator<OffsetDelta> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async published(): Promise<readonly Delta[]> {
    return [];
  }

  async forget(_session: string): Promise<void> {}

  async close(): Promise<void> {}
}
