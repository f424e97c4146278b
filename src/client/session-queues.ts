import type { QueueMode } from "../schema/definition.ts";
import type { ClientLink } from "./connection/client-link.ts";
import { clearQueues, setQueueMode } from "./runs/queue-message.ts";

/** The messages that wait for a session's running agent: `session.queues`. */
export class SessionQueues {
  readonly #link: ClientLink;
  readonly #id: string;

  constructor(link: ClientLink, id: string) {
    this.#link = link;
    this.#id = id;
  }

  /** Sets how many waiting messages a turn takes: all of them, or one. */
  setMode(queue: "steering" | "follow-up", mode: QueueMode): Promise<void> {
    return setQueueMode(this.#link, this.#id, queue, mode);
  }

  /** Discards waiting messages. */
  clear(queue: "steering" | "follow-up" | "all" = "all"): Promise<void> {
    return clearQueues(this.#link, this.#id, queue);
  }
}
