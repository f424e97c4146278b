/** While a call waits, its answer may come from elsewhere; before, what is recorded says when to look. */
const LOOK_CLOSELY_MS = 1_000;
const LOOK_MS = 5_000;

/** Looks for calls that wait, when it is told to and from time to time, one look after the other. */
export class ApprovalWatch<Call> {
  readonly #read: () => Promise<readonly Call[]>;
  readonly #hear: (calls: readonly Call[]) => void;
  #running = false;
  #looking = false;
  #newest = Promise.resolve();
  #again = false;
  #waiting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(read: () => Promise<readonly Call[]>, hear: (calls: readonly Call[]) => void) {
    this.#read = read;
    this.#hear = hear;
  }

  start(): void {
    this.#running = true;
    this.look();
  }

  /** Nothing is heard behind it. */
  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
  }

  look(): void {
    if (!this.#running) return;
    if (this.#looking) this.#again = true;
    else this.#newest = this.#look();
  }

  /** Resolves when nobody is being asked. */
  settled(): Promise<void> {
    return this.#newest;
  }

  async #look(): Promise<void> {
    this.#looking = true;
    clearTimeout(this.#timer);
    do {
      this.#again = false;
      // Who cannot be asked now is asked again later.
      const calls = await this.#read().catch(() => undefined);
      if (calls === undefined || !this.#running) continue;
      this.#waiting = calls.length > 0;
      this.#hear(calls);
    } while (this.#again && this.#running);
    this.#looking = false;
    if (this.#running) {
      this.#timer = setTimeout(() => this.look(), this.#waiting ? LOOK_CLOSELY_MS : LOOK_MS);
    }
  }
}
