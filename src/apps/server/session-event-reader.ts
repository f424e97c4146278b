import type { Session, SessionEvent } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";

/** Reads a session's events with their cursors, until it is closed. */
export class SessionEventReader {
  readonly #closeController = new AbortController();
  readonly #events: AsyncIterator<SessionEvent>;
  readonly #closed: Promise<IteratorReturnResult<undefined>>;

  /** @param from - A cursor, `loop`, `session` or `now`. By default, the running loop, or the newest one. */
  constructor(session: Session, from?: string) {
    const { signal } = this.#closeController;
    this.#closed = new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve({ done: true, value: undefined }), { once: true });
    });
    const start = omitUndefined({ from });
    this.#events = session.events({ ...start, signal })[Symbol.asyncIterator]();
  }

  get isClosed(): boolean {
    return this.#closeController.signal.aborted;
  }

  /** Ends when the reader is closed, whatever happens to the pending read. */
  next(): Promise<IteratorResult<SessionEvent>> {
    return Promise.race([this.#events.next(), this.#closed]);
  }

  /** Makes the next read the end. */
  close(): void {
    this.#closeController.abort();
  }

  closeOnAbort(signal: AbortSignal): void {
    if (signal.aborted) this.close();
    else signal.addEventListener("abort", () => this.close(), { once: true });
  }
}
