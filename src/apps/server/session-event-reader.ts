import type { Session, SessionEvent } from "../../client/index.ts";

/** What happens in a session, with where a reader may go on, until it is closed. */
export class SessionEventReader {
  readonly #closeController = new AbortController();
  readonly #events: AsyncIterator<SessionEvent>;
  readonly #closed: Promise<IteratorReturnResult<undefined>>;

  /** @param from - A cursor, `loop`, `session` or `now`; the loop that runs, or the newest, unless said. */
  constructor(session: Session, from?: string) {
    const { signal } = this.#closeController;
    this.#closed = new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve({ done: true, value: undefined }), { once: true });
    });
    const start = from === undefined ? {} : { from };
    this.#events = session.events({ ...start, signal })[Symbol.asyncIterator]();
  }

  get isClosed(): boolean {
    return this.#closeController.signal.aborted;
  }

  /** Ends when it is closed, whatever becomes of what was asked for. */
  next(): Promise<IteratorResult<SessionEvent>> {
    return Promise.race([this.#events.next(), this.#closed]);
  }

  /** What comes now is the end. */
  close(): void {
    this.#closeController.abort();
  }

  closeOnAbort(signal: AbortSignal): void {
    if (signal.aborted) this.close();
    else signal.addEventListener("abort", () => this.close(), { once: true });
  }
}
