import type { LineCodec } from "./line-codec.ts";
import type { OffsetDelta } from "./stream.ts";
import { Tail } from "./tail.ts";

/** All who watch in one process. Those of one session share what is read of it. */
export class Watchers {
  readonly #codec: LineCodec;
  readonly #tails = new Map<string, { readonly tail: Tail; watchers: number }>();
  readonly #leave = new Set<() => void>();
  #closed = false;

  constructor(codec: LineCodec) {
    this.#codec = codec;
  }

  async *watch(folder: string, from: number, signal: AbortSignal): AsyncGenerator<OffsetDelta, void, void> {
    if (signal.aborted || this.#closed) return;
    const alarm = new Alarm();
    let hasLeft = false;
    const leave = (): void => {
      hasLeft = true;
      alarm.ring();
    };
    const tail = this.#join(folder, from);
    const off = tail.onChange(() => alarm.ring());
    signal.addEventListener("abort", leave, { once: true });
    this.#leave.add(leave);
    try {
      let at = from;
      for (;;) {
        const isQuiet = alarm.set();
        const deltas = await tail.behind(at);
        for (const one of deltas) {
          if (hasLeft) return;
          at = one.offset;
          yield one;
        }
        if (hasLeft) return;
        if (deltas.length > 0 || (await tail.advance()) || tail.hasBehind(at)) continue;
        await isQuiet;
      }
    } finally {
      signal.removeEventListener("abort", leave);
      this.#leave.delete(leave);
      off();
      await this.#part(folder);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const leave of [...this.#leave]) leave();
  }

  #join(folder: string, from: number): Tail {
    const known = this.#tails.get(folder) ?? { tail: new Tail(folder, this.#codec, from), watchers: 0 };
    known.watchers += 1;
    this.#tails.set(folder, known);
    return known.tail;
  }

  async #part(folder: string): Promise<void> {
    const known = this.#tails.get(folder);
    if (known === undefined) return;
    known.watchers -= 1;
    if (known.watchers > 0) return;
    this.#tails.delete(folder);
    await known.tail.close();
  }
}

/** Set before one looks, and waited for when nothing was found: what happens in between is not missed. */
class Alarm {
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
