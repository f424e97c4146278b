import type { SessionStatus } from "../../../client/index.ts";

const INTERVAL_MS = 2_000;

/** Reads a session's status at intervals while it runs, and on request, one at a time. */
export class StatusPoller {
  readonly #read: () => Promise<SessionStatus>;
  readonly #onStatus: (status: SessionStatus) => void;
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #isStopped = false;

  constructor(read: () => Promise<SessionStatus>, onStatus: (status: SessionStatus) => void) {
    this.#read = read;
    this.#onStatus = onStatus;
  }

  setRunning(running: boolean): void {
    clearInterval(this.#timer);
    this.#timer = running && !this.#isStopped ? setInterval(() => this.poll(), INTERVAL_MS) : undefined;
    this.poll();
  }

  poll(): void {
    if (this.#isStopped) return;
    if (this.#polling !== undefined) {
      this.#pollAgain = true;
      return;
    }
    this.#polling = this.#poll().finally(() => {
      this.#polling = undefined;
    });
  }

  /** Resolves when no request is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#polling;
  }

  async #poll(): Promise<void> {
    do {
      this.#pollAgain = false;
      // A session without a run or a record has no status yet; a server that is away answers at the next interval.
      const status = await this.#read().catch(() => undefined);
      if (status !== undefined && !this.#isStopped) this.#onStatus(status);
    } while (this.#pollAgain && !this.#isStopped);
  }
}
