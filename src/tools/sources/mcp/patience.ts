/** How long one request may take. What is reported on its way begins the time anew, up to a cap (MCP-07). */
export class Patience {
  readonly #timeoutMs: number;
  readonly #controller = new AbortController();
  #leftMs: number;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxMs - Of all time but the pauses. */
  constructor(timeoutMs: number, maxMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#leftMs = Math.max(timeoutMs, maxMs);
    this.#run();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Something has come. */
  renew(): void {
    if (this.#since === undefined) return;
    this.pause();
    this.resume();
  }

  /** A person is waited for: that is nobody's slowness. */
  pause(): void {
    if (this.#since === undefined) return;
    this.#leftMs -= performance.now() - this.#since;
    this.end();
  }

  resume(): void {
    if (this.#since === undefined && !this.isOver) this.#run();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#since = undefined;
  }

  #run(): void {
    this.#since = performance.now();
    const waitMs = Math.max(0, Math.min(this.#timeoutMs, this.#leftMs));
    this.#timer = setTimeout(() => this.#controller.abort(new Error(`no answer in ${waitMs} ms`)), waitMs);
  }
}
