import type { Session, SessionStatus } from "../../client/index.ts";

/** A run answers questions between its steps: those that are asked at the same time share one answer. */
export class Statuses {
  readonly #asked = new Map<string, Promise<SessionStatus>>();

  of(session: Session): Promise<SessionStatus> {
    const known = this.#asked.get(session.id);
    if (known !== undefined) return known;
    const asked = session.status().finally(() => this.#asked.delete(session.id));
    this.#asked.set(session.id, asked);
    return asked;
  }
}
