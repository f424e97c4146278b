// The sending end of one reader's stream: bounded, and cut off when the reader stalls.
//
// Invariants
//   O1. At most `LAG_BYTES` and one chunk are buffered for a reader.
//   O2. A reader that takes nothing from a full buffer for `stallMs` is cut off; its buffer is released.

/** A reader is lagging when this much is buffered for it. */
const LAG_BYTES = 256 * 1024;
/** Large writes are split into chunks, so that the progress of a slow reader is visible. */
const CHUNK_BYTES = 16 * 1024;

/** The reader has left, or was cut off. */
export class ReaderGoneError extends Error {
  override readonly name = "ReaderGone";
}

export type ResponseStreamOptions = {
  /** A reader that takes nothing for this long is cut off. */
  readonly stallMs: number;
  /** The interval of heartbeats while there is nothing to write. */
  readonly heartbeatMs: number;
  readonly heartbeat: string;
  /** Closes the connection. */
  readonly drop: () => void;
};

export class ResponseStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: ResponseStreamOptions;
  readonly #closedController = new AbortController();
  readonly #encoder = new TextEncoder();
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** Writers that wait for capacity. */
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

  /** Waits for capacity, then writes. The reader may be lagging afterwards. */
  async write(text: string): Promise<void> {
    const bytes = this.#encoder.encode(text);
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      await this.waitForCapacity();
      this.#enqueue(bytes.subarray(at, at + CHUNK_BYTES));
    }
  }

  /** @throws {ReaderGoneError} */
  async waitForCapacity(): Promise<void> {
    while (this.isLagging && !this.closedSignal.aborted) {
      await this.#waitForRead();
    }
    if (this.closedSignal.aborted) throw new ReaderGoneError("The reader has left");
  }

  /** Resolves when the reader has taken everything or has left. Disconnects a reader that is not done in time. */
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

  /** Ends like a lost connection, so that the reader reconnects. */
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

  /** Called when the buffer has room again. */
  #onPull(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    this.#wakeWaiters();
  }

  /** Resolves when the reader has taken something or has left. */
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
