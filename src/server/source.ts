import type { Session, SessionEvent } from "../client/index.ts";

/** What happens in a session, with where a reader may go on, until it is closed. */
export class Source {
  readonly #leaving = new AbortController();
  readonly #events: AsyncIterator<SessionEvent>;

  /** @param from - A cursor, `loop`, `session` or `now`; the loop that runs, or the newest, unless said. */
  constructor(session: Session, from?: string) {
    const { signal } = this.#leaving;
    const start = from === undefined ? {} : { from };
    this.#events = session.events({ ...start, signal })[Symbol.asyncIterator]();
  }

  get isClosed(): boolean {
    return this.#leaving.signal.aborted;
  }

  next(): Promise<IteratorResult<SessionEvent>> {
    return this.#events.next();
  }

  /** What comes now is the end. */
  close(): void {
    this.#leaving.abort();
  }

  closeWith(signal: AbortSignal): void {
    if (signal.aborted) this.close();
    else signal.addEventListener("abort", () => this.close(), { once: true });
  }
}
