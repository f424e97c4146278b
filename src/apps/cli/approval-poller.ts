/** The interval while a call waits: its answer may come from elsewhere. Otherwise recorded events trigger a poll. */
const WAITING_POLL_INTERVAL_MS = 1_000;
const POLL_INTERVAL_MS = 5_000;

/** Polls for waiting calls on request and at intervals, one poll at a time. */
export class ApprovalPoller<Call> {
  readonly #read: () => Promise<readonly Call[]>;
  readonly #onCalls: (calls: readonly Call[]) => void;
  #running = false;
  #polling = false;
  #latestPoll = Promise.resolve();
  #pollAgain = false;
  #waiting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(read: () => Promise<readonly Call[]>, hear: (calls: readonly Call[]) => void) {
    this.#read = read;
    this.#onCalls = hear;
  }

  start(): void {
    this.#running = true;
    this.poll();
  }

  /** Stops the polling; the callback is not called after it. */
  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
  }

  poll(): void {
    if (!this.#running) return;
    if (this.#polling) this.#pollAgain = true;
    else this.#latestPoll = this.#runPolls();
  }

  /** Resolves when no poll is in progress. */
  waitUntilIdle(): Promise<void> {
    return this.#latestPoll;
  }

  async #runPolls(): Promise<void> {
    this.#polling = true;
    clearTimeout(this.#timer);
    do {
      this.#pollAgain = false;
      // A failed poll is retried at the next interval.
      const calls = await this.#read().catch(() => undefined);
      if (calls === undefined || !this.#running) continue;
      this.#waiting = calls.length > 0;
      this.#onCalls(calls);
    } while (this.#pollAgain && this.#running);
    this.#polling = false;
    if (this.#running) {
      this.#timer = setTimeout(
        () => this.poll(),
        this.#waiting ? WAITING_POLL_INTERVAL_MS : POLL_INTERVAL_MS,
      );
    }
  }
}
