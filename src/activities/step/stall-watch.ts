/** A process that is silent for longer has lost its steps: it is the heartbeat timeout of their activities. */
const MAX_SILENCE_MS = 5000;
const TICK_MS = 500;

/** How long before it begins here a step may have been taken from its queue. */
const MAX_QUEUED_MS = 1000;

/**
 * Notices when the process was stalled (a blocked event loop, SIGSTOP, a paused host) for longer than Temporal waits
 * for a heartbeat. Temporal has then dispatched its steps again, and a step that has not begun must not begin.
 */
export class StallWatch {
  readonly #readClock: () => number;
  #tickedMs: number;
  #stallEndedMs = Number.NEGATIVE_INFINITY;

  /** @param readClock - Returns milliseconds that never go back. */
  constructor(readClock: () => number = () => performance.now()) {
    this.#readClock = readClock;
    this.#tickedMs = readClock();
  }

  /** Ticks from a timer that keeps no process alive. */
  start(): this {
    setInterval(() => this.tick(), TICK_MS).unref();
    return this;
  }

  /** Must be called every half second; a late call is how a stall is noticed. Returns the time. */
  tick(): number {
    const now = this.#readClock();
    if (now - this.#tickedMs > MAX_SILENCE_MS) this.#stallEndedMs = now;
    this.#tickedMs = now;
    return now;
  }

  /** Forgets earlier stalls. A worker that is created afterwards has lost no step to them. */
  forget(): void {
    this.tick();
    this.#stallEndedMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Returns whether Temporal may have given up a step by now.
   *
   * @param beganMs - When the step began here, by `tick`.
   */
  mayHaveLost(beganMs: number): boolean {
    this.tick();
    return this.#stallEndedMs >= beganMs - MAX_QUEUED_MS;
  }

  /** Returns the milliseconds until a step that begins here was certainly taken after the last stall. */
  computeSafeDelayMs(): number {
    return Math.max(0, this.#stallEndedMs + MAX_QUEUED_MS + 1 - this.tick());
  }
}
