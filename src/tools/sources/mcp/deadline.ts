/** The time limit of one request. Progress reports restart the time, up to a cap (MCP-07). */
export class Deadline {
  readonly #timeoutMs: number;
  readonly #controller = new AbortController();
  #remainingMs: number;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxMs - The cap on the total time, without pauses. */
  constructor(timeoutMs: number, maxMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#remainingMs = Math.max(timeoutMs, maxMs);
    this.#schedule();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get hasPassed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Restarts the time after progress. */
  extend(): void {
    if (this.#since === undefined) return;
    this.pause();
    this.resume();
  }

  /** Stops the time while the user is asked: that is not the server's slowness. */
  pause(): void {
    if (this.#since === undefined) return;
    this.#remainingMs -= performance.now() - this.#since;
    this.dispose();
  }

  resume(): void {
    if (this.#since === undefined && !this.hasPassed) this.#schedule();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#since = undefined;
  }

  #schedule(): void {
    this.#since = performance.now();
    const waitMs = Math.max(0, Math.min(this.#timeoutMs, this.#remainingMs));
    this.#timer = setTimeout(() => this.#controller.abort(new Error(`no answer in ${waitMs} ms`)), waitMs);
  }
}
