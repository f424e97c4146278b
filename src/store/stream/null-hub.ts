import type { Delta, OffsetDelta, StreamHub, StreamSnapshot, StreamWatchOptions } from "./stream-hub.ts";

/** A hub that stores nothing, for runs without watchers. */
export class NullHub implements StreamHub {
  publish(_delta: Delta): void {}

  end(): void {}

  async flush(): Promise<void> {}

  async readSnapshot(): Promise<StreamSnapshot> {
    return { deltas: [], offset: 0 };
  }

  async *watch({ signal }: StreamWatchOptions): AsyncGenerator<OffsetDelta> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async readPublished(): Promise<readonly Delta[]> {
    return [];
  }

  async deleteSession(_session: string): Promise<void> {}

  async close(): Promise<void> {}
}
