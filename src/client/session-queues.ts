import type { QueueMode } from "../schema/definition.ts";
import type { ClientLink } from "./connection/client-link.ts";

/** The messages that wait for a session's running agent: `session.queues`. */
export class SessionQueues {
  readonly #link: ClientLink;
  readonly #id: string;

  constructor(link: ClientLink, id: string) {
    this.#link = link;
    this.#id = id;
  }

  /** Sets how many waiting messages a turn takes: all of them, or one. */
  async setMode(queue: "steering" | "follow-up", mode: QueueMode): Promise<void> {
    const { setQueueMode } = await import("./runs/queue-message.ts");
    return setQueueMode(this.#link, this.#id, queue, mode);
  }

  /** Discards waiting messages. */
  async clear(queue: "steering" | "follow-up" | "all" = "all"): Promise<void> {
    const { clearQueues } = await import("./runs/queue-message.ts");
    return clearQueues(this.#link, this.#id, queue);
  }
}
