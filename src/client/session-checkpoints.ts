import type { EditResult } from "../store/transcript/archive.ts";
import type { ClientLink } from "./connection/client-link.ts";
import type { AgentSnapshot } from "./sessions/checkpoint.ts";

/** Portable states of a session: `session.checkpoints`. */
export class SessionCheckpoints {
  readonly #link: ClientLink;
  readonly #id: string;

  constructor(link: ClientLink, id: string) {
    this.#link = link;
    this.#id = id;
  }

  /** Creates a checkpoint, to continue from later: here with `restore`, or elsewhere with `holdfast.sessions.resume`. */
  async create(): Promise<AgentSnapshot> {
    const { createCheckpoint } = await import("./sessions/checkpoint.ts");
    return createCheckpoint(this.#link, this.#id);
  }

  /** Continues this session from its checkpoint, on a new branch. Like every change from outside, it requires an idle session. */
  async restore(snapshot: AgentSnapshot): Promise<EditResult> {
    const { restoreCheckpoint } = await import("./sessions/checkpoint.ts");
    return restoreCheckpoint(this.#link, this.#id, snapshot);
  }
}
