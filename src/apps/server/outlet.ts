// One reader's end of a stream: bounded, and cut off when nobody reads.
//
// Invariants
//   O1. What waits for a reader is at most `BEHIND_BYTES` and one piece.
//   O2. A reader that takes nothing while something waits is cut off after `stallMs`; nothing is held for it then.

/** A reader is behind when this much waits for it. */
const BEHIND_BYTES = 256 * 1024;
/** Large writes go out in pieces, so that a slow reader is seen to read. */
const PIECE_BYTES = 16 * 1024;

/** The reader has left, or was cut off. */
export class ReaderGone extends Error {
  override readonly name = "ReaderGone";
}

export type OutletOptions = {
  /** A reader that has taken nothing for so long is cut off. */
  readonly stallMs: number;
  /** So often something is written when there is nothing to say. */
  readonly heartbeatMs: number;
  readonly heartbeat: string;
  /** Takes the connection away. */
  readonly drop: () => void;
};

export class Outlet {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: OutletOptions;
  readonly #gone = new AbortController();
  readonly #encoder = new TextEncoder();
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** Who waits for room. */
  #waiting: (() => void)[] = [];
  #beat: NodeJS.Timeout | undefined;
  #stall: NodeJS.Timeout | undefined;

  constructor(options: OutletOptions) {
    this.#options = options;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#read(),
        cancel: () => this.#leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BEHIND_BYTES }),
    );
    this.#keepAlive();
  }

  /** Aborted when nobody reads any more. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isBehind(): boolean {
    return this.#room <= 0;
  }

  /** Waits for room; a reader may be behind when it is done. */
  async write(text: string): Promise<void> {
    const bytes = this.#encoder.encode(text);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await this.room();
      this.#put(bytes.subarray(at, at + PIECE_BYTES));
    }
  }

  /** @throws {ReaderGone} */
  async room(): Promise<void> {
    while (this.isBehind && !this.gone.aborted) {
      await this.#taken();
    }
    if (this.gone.aborted) throw new ReaderGone("The reader has left");
  }

  /** Resolves when the reader has taken everything, has left, or has not done so in time. */
  async flushed(withinMs: number): Promise<void> {
    const late = setTimeout(() => this.cut(), withinMs);
    while (!this.gone.aborted && this.#room < BEHIND_BYTES) {
      await this.#taken();
    }
    clearTimeout(late);
  }

  end(): void {
    if (this.gone.aborted) return;
    this.#leave();
    this.#controller.close();
  }

  /** Ends as a lost connection does, so that the reader comes back. */
  cut(): void {
    if (this.gone.aborted) return;
    this.#leave();
    this.#options.drop();
  }

  get #room(): number {
    return this.gone.aborted ? 0 : (this.#controller.desiredSize ?? 0);
  }

  #put(bytes: Uint8Array): void {
    if (this.gone.aborted) throw new ReaderGone("The reader has left");
    this.#controller.enqueue(bytes);
    this.#keepAlive();
    if (!this.isBehind) return;
    this.#stall ??= setTimeout(() => this.cut(), this.#options.stallMs);
  }

  /** Called when there is room, be it that the reader has read. */
  #read(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.#wake();
  }

  /** Something was taken, or nobody is there to take it. */
  #taken(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  #keepAlive(): void {
    clearTimeout(this.#beat);
    this.#beat = setTimeout(() => {
      if (this.isBehind) this.#keepAlive();
      else this.#put(this.#encoder.encode(this.#options.heartbeat));
    }, this.#options.heartbeatMs);
  }

  #leave(): void {
    clearTimeout(this.#beat);
    clearTimeout(this.#stall);
    this.#gone.abort();
    this.#wake();
  }
}
