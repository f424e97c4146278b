import type { Session, SessionStatus } from "../../client/index.ts";

/** Shares status queries: a run answers between its steps, so concurrent requests receive the same answer. */
export class StatusReader {
  readonly #pending = new Map<string, Promise<SessionStatus>>();

  read(session: Session): Promise<SessionStatus> {
    const known = this.#pending.get(session.id);
    if (known !== undefined) return known;
    const pending = session.status().finally(() => this.#pending.delete(session.id));
    this.#pending.set(session.id, pending);
    return pending;
  }
}
