import type { LineCodec } from "./line-codec.ts";
import type { OffsetDelta } from "./stream-hub.ts";
import { StreamTail } from "./stream-tail.ts";

/** All watchers of one process. Watchers of one session share its reads. */
export class StreamWatchers {
  readonly #codec: LineCodec;
  readonly #tails = new Map<string, { readonly tail: StreamTail; watchers: number }>();
  readonly #leave = new Set<() => void>();
  #closed = false;

  constructor(codec: LineCodec) {
    this.#codec = codec;
  }

  async *watch(folder: string, from: number, signal: AbortSignal): AsyncGenerator<OffsetDelta, void, void> {
    if (signal.aborted || this.#closed) return;
    const wakeSignal = new WakeSignal();
    let hasLeft = false;
    const leave = (): void => {
      hasLeft = true;
      wakeSignal.ring();
    };
    const tail = this.#getTail(folder, from);
    const unsubscribe = tail.onChange(() => wakeSignal.ring());
    signal.addEventListener("abort", leave, { once: true });
    this.#leave.add(leave);
    try {
      let at = from;
      for (;;) {
        const nextChange = wakeSignal.set();
        const deltas = await tail.readAfter(at);
        for (const one of deltas) {
          if (hasLeft) return;
          at = one.offset;
          yield one;
        }
        if (hasLeft) return;
        if (deltas.length > 0 || (await tail.advance()) || tail.hasAfter(at)) continue;
        await nextChange;
      }
    } finally {
      signal.removeEventListener("abort", leave);
      this.#leave.delete(leave);
      unsubscribe();
      await this.#releaseTail(folder);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const leave of [...this.#leave]) leave();
  }

  #getTail(folder: string, from: number): StreamTail {
    const known = this.#tails.get(folder) ?? { tail: new StreamTail(folder, this.#codec, from), watchers: 0 };
    known.watchers += 1;
    this.#tails.set(folder, known);
    return known.tail;
  }

  async #releaseTail(folder: string): Promise<void> {
    const known = this.#tails.get(folder);
    if (known === undefined) return;
    known.watchers -= 1;
    if (known.watchers > 0) return;
    this.#tails.delete(folder);
    await known.tail.close();
  }
}

/** A signal that is reset before a read and awaited if the read found nothing, so that no change is missed. */
class WakeSignal {
  #ring: () => void = () => undefined;

  set(): Promise<void> {
    return new Promise((resolve) => {
      this.#ring = resolve;
    });
  }

  ring(): void {
    this.#ring();
  }
}
