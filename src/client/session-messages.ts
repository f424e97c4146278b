import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { EditResult } from "../store/transcript/archive.ts";
import type { ClientLink } from "./connection/client-link.ts";
import type { MessagesOptions } from "./read/read-messages.ts";
import type { RequestOptions, TurnRequest } from "./read/read-turn-request.ts";

/**
 * The conversation of a session: `session.messages`. A change requires an idle session and deletes nothing: what was there
 * before stays in the record.
 */
export class SessionMessages {
  readonly #link: ClientLink;
  readonly #id: string;

  constructor(link: ClientLink, id: string) {
    this.#link = link;
    this.#id = id;
  }

  /** Reads the conversation, by default the whole head. `messagesToJson` writes its messages as JSON. */
  async list(options?: MessagesOptions): Promise<readonly Entry[]> {
    const { readMessages } = await import("./read/read-messages.ts");
    return readMessages(this.#link, this.#id, options);
  }

  /** Appends messages to the idle session's branch, as a loop of their own. No model is called. */
  async append(...messages: readonly AgentMessage[]): Promise<EditResult> {
    const { appendMessages } = await import("./sessions/edit-session.ts");
    return appendMessages(this.#link, this.#id, messages);
  }

  /** Continues from these messages on a new branch. `messagesFromJson` reads messages from JSON. */
  async replace(messages: readonly AgentMessage[]): Promise<EditResult> {
    const { replaceMessages } = await import("./sessions/edit-session.ts");
    return replaceMessages(this.#link, this.#id, messages);
  }

  /** Begins an empty conversation on a new branch. */
  async clear(): Promise<EditResult> {
    const { clearMessages } = await import("./sessions/edit-session.ts");
    return clearMessages(this.#link, this.#id);
  }

  /** Reads what the model received for one answer, with the origin of every block. */
  async request(options?: RequestOptions): Promise<TurnRequest> {
    const { readTurnRequest } = await import("./read/read-turn-request.ts");
    return readTurnRequest(this.#link, this.#id, options);
  }
}
