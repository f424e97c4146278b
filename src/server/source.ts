import type { AgentEvent, Session } from "../client/index.ts";

export type SessionEvent = { readonly cursor: string; readonly event: AgentEvent };

/** What happens in a session, with where a reader may go on, until it is closed. */
export class Source {
  readonly #leaving = new AbortController();
  readonly #events: AsyncIterator<SessionEvent>;

  /** @param from - A cursor, `loop`, `session` or `now`; the loop that runs, or the newest, unless said. */
  constructor(session: Session, from?: string) {
    this.#events = eventsOf(session, from, this.#leaving.signal)[Symbol.asyncIterator]();
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

async function* eventsOf(
  session: Session,
  from: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent> {
  let at = 0;
  const skip = from !== undefined && /^\d+$/.test(from) ? Number(from) : 0;
  const start = from === "now" ? "now" : skip > 0 || from === "session" ? "session" : "loop";
  for await (const event of session.agentEvents({ from: start, signal })) {
    at += 1;
    if (at > skip) yield { cursor: `${at}`, event };
  }
}
