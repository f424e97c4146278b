// One reader's end of a stream: bounded, and cut off when nobody reads.
//
// Invariants
//   O1. What waits for a reader is at most `BEHIND_BYTES` and one piece.
//   O2. A reader that takes nothing while something waits is cut off after `stallMs`; nothing is held for it then.

/** A reader is behind when this much waits for it. */
const LAG_BYTES = 256 * 1024;
/** Large writes go out in pieces, so that a slow reader is seen to read. */
const CHUNK_BYTES = 16 * 1024;

/** The reader has left, or was cut off. */
export class ReaderGoneError extends Error {
  override readonly name = "ReaderGone";
}

export type ResponseStreamOptions = {
  /** A reader that has taken nothing for so long is cut off. */
  readonly stallMs: number;
  /** So often something is written when there is nothing to say. */
  readonly heartbeatMs: number;
  readonly heartbeat: string;
  /** Takes the connection away. */
  readonly drop: () => void;
};

export class ResponseStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: ResponseStreamOptions;
  readonly #closedController = new AbortController();
  readonly #encoder = new TextEncoder();
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** Who waits for room. */
  #waiters: (() => void)[] = [];
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #stallTimer: NodeJS.Timeout | undefined;

  constructor(options: ResponseStreamOptions) {
    this.#options = options;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#onPull(),
        cancel: () => this.#release(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: LAG_BYTES }),
    );
    this.#resetHeartbeat();
  }

  /** Aborted when nobody reads any more. */
  get closedSignal(): AbortSignal {
    return this.#closedController.signal;
  }

  get isLagging(): boolean {
    return this.#capacity <= 0;
  }

  /** Waits for room; a reader may be behind when it is done. */
  async write(text: string): Promise<void> {
    const bytes = this.#encoder.encode(text);
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      await this.waitForCapacity();
      this.#enqueue(bytes.subarray(at, at + CHUNK_BYTES));
    }
  }

  /** @throws {ReaderGone} */
  async waitForCapacity(): Promise<void> {
    while (this.isLagging && !this.closedSignal.aborted) {
      await this.#waitForRead();
    }
    if (this.closedSignal.aborted) throw new ReaderGoneError("The reader has left");
  }

  /** Resolves when the reader has taken everything, has left, or has not done so in time. */
  async waitUntilFlushed(withinMs: number): Promise<void> {
    const late = setTimeout(() => this.disconnect(), withinMs);
    while (!this.closedSignal.aborted && this.#capacity < LAG_BYTES) {
      await this.#waitForRead();
    }
    clearTimeout(late);
  }

  end(): void {
    if (this.closedSignal.aborted) return;
    this.#release();
    this.#controller.close();
  }

  /** Ends as a lost connection does, so that the reader comes back. */
  disconnect(): void {
    if (this.closedSignal.aborted) return;
    this.#release();
    this.#options.drop();
  }

  get #capacity(): number {
    return this.closedSignal.aborted ? 0 : (this.#controller.desiredSize ?? 0);
  }

  #enqueue(bytes: Uint8Array): void {
    if (this.closedSignal.aborted) throw new ReaderGoneError("The reader has left");
    this.#controller.enqueue(bytes);
    this.#resetHeartbeat();
    if (!this.isLagging) return;
    this.#stallTimer ??= setTimeout(() => this.disconnect(), this.#options.stallMs);
  }

  /** Called when there is room, be it that the reader has read. */
  #onPull(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    this.#wakeWaiters();
  }

  /** Something was taken, or nobody is there to take it. */
  #waitForRead(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  #wakeWaiters(): void {
    const waiting = this.#waiters;
    this.#waiters = [];
    for (const go of waiting) go();
  }

  #resetHeartbeat(): void {
    clearTimeout(this.#heartbeatTimer);
    this.#heartbeatTimer = setTimeout(() => {
      if (this.isLagging) this.#resetHeartbeat();
      else this.#enqueue(this.#encoder.encode(this.#options.heartbeat));
    }, this.#options.heartbeatMs);
  }

  #release(): void {
    clearTimeout(this.#heartbeatTimer);
    clearTimeout(this.#stallTimer);
    this.#closedController.abort();
    this.#wakeWaiters();
  }
}
