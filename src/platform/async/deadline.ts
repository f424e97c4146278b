/** A time limit that can be paused. Its signal aborts when the time is over. */
export class Deadline {
  readonly #timeoutMs: number;
  readonly #controller = new AbortController();
  #remainingMs: number;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  /** @param maxMs - The cap on the total time, without pauses, when the limit is extended. */
  constructor(timeoutMs: number, maxMs = timeoutMs) {
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

  /** Stops the time during a wait that is not part of the limited work. */
  pause(): void {
    if (this.#since === undefined) return;
    this.#remainingMs -= performance.now() - this.#since;
    this.#stop();
  }

  resume(): void {
    if (this.#since === undefined && !this.#isDisposed && !this.hasPassed) this.#schedule();
  }

  /** Ends the limit: the signal does not abort any more. */
  dispose(): void {
    this.#isDisposed = true;
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#since = undefined;
  }

  #schedule(): void {
    this.#since = performance.now();
    const waitMs = Math.max(0, Math.min(this.#timeoutMs, this.#remainingMs));
    this.#timer = setTimeout(() => this.#controller.abort(new Error(`no answer in ${waitMs} ms`)), waitMs);
  }
}

/**
 * Runs work until the signal aborts or the deadline passes.
 *
 * @param createTimeoutError - Creates the error for work that the deadline ended, from the work's own error.
 */
export async function runWithDeadline<Result>(
  signal: AbortSignal,
  deadline: Deadline,
  work: (signal: AbortSignal) => Promise<Result>,
  createTimeoutError: (cause: unknown) => Error,
): Promise<Result> {
  try {
    return await work(AbortSignal.any([signal, deadline.signal]));
  } catch (error) {
    if (signal.aborted || !deadline.hasPassed) throw error;
    throw createTimeoutError(error);
  } finally {
    deadline.dispose();
  }
}

/**
 * Returns a signal that aborts with another one, or after this time.
 *
 * Node 20 may collect an `AbortSignal.timeout` to which only an `AbortSignal.any` refers, and then never aborts.
 */
export function limitSignal(signal: AbortSignal, timeoutMs: number): AbortSignal {
  const late = new AbortController();
  setTimeout(
    () => late.abort(new DOMException(`No end within ${timeoutMs} ms`, "TimeoutError")),
    timeoutMs,
  ).unref();
  return AbortSignal.any([signal, late.signal]);
}
