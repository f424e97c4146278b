/** While a call waits, its answer may come from elsewhere; before, what is recorded says when to look. */
const WAITING_POLL_INTERVAL_MS = 1_000;
const POLL_INTERVAL_MS = 5_000;

/** Looks for calls that wait, when it is told to and from time to time, one look after the other. */
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

  /** Nothing is heard behind it. */
  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
  }

  poll(): void {
    if (!this.#running) return;
    if (this.#polling) this.#pollAgain = true;
    else this.#latestPoll = this.#runPolls();
  }

  /** Resolves when nobody is being asked. */
  waitUntilIdle(): Promise<void> {
    return this.#latestPoll;
  }

  async #runPolls(): Promise<void> {
    this.#polling = true;
    clearTimeout(this.#timer);
    do {
      this.#pollAgain = false;
      // Who cannot be asked now is asked again later.
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
