import { isDeepStrictEqual } from "node:util";
import { estimateMessage } from "../../core/estimate.ts";
import { type Outbox, outboxMessage } from "../../core/outbox.ts";
import type { PersonMessage } from "../../core/state.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { Entry, EntryOrigin, EventBody } from "../../schema/record.ts";
import type { LoopTrace } from "./events.ts";

/** One session in memory, written by nobody but the plain driver: one branch, nothing to be fenced off. */
export class MemoryTranscript {
  readonly #entries: Entry[] = [];
  readonly #loops: { loopId: string; events: EventBody[] }[] = [];
  inbox: PersonMessage[] = [];

  get entries(): readonly Entry[] {
    return this.#entries.filter((entry) => entry !== undefined);
  }

  get loops(): readonly LoopTrace[] {
    return this.#loops;
  }

  get length(): number {
    return this.#entries.length;
  }

  isEntered(messageId: string): boolean {
    return this.entries.some((entry) => entry.messageId === messageId);
  }

  /** The messages of a loop's start, each id once: the inbox, which is emptied, then the prompts. */
  openLoop(
    loopId: string,
    prompts: readonly (PersonMessage & { origin: EntryOrigin })[],
  ): readonly { origin: EntryOrigin; messageId: string; tokens: number }[] {
    const wanted = [...this.inbox.map((message) => ({ ...message, origin: "inbox" as const })), ...prompts];
    this.inbox = [];
    this.#loops.push({ loopId, events: [] });
    return wanted.flatMap(({ id, text = "", atMs, origin }) => {
      if (this.isEntered(id)) return [];
      const message: AgentMessage = { role: "user", content: [{ type: "text", text }], timestamp: atMs };
      this.put(this.length, origin, message, id);
      return [{ origin, messageId: id, tokens: estimateMessage(message) }];
    });
  }

  /** Writes what has waited in the machine. */
  write(outbox: Outbox, loopId: string): void {
    for (const entry of outbox.entries) {
      const { body } = entry;
      const id = body.type === "person" || body.type === "refused" ? body.message.id : undefined;
      this.put(entry.position, entry.origin, outboxMessage(entry, loopId), id);
    }
    const loop = this.#loops.find((one) => one.loopId === loopId);
    for (const { sequence, body } of outbox.events) {
      const there = loop?.events[sequence];
      if (loop === undefined || (there === undefined && sequence !== loop.events.length)) {
        throw new Error(`Event ${sequence} (${body.type}) follows ${loop?.events.length ?? "no loop"}`);
      }
      if (there === undefined) loop.events.push(body);
      else if (!isDeepStrictEqual(there, body)) throw new Error(`Event ${sequence} changes to ${body.type}`);
    }
  }

  /** A command that was set back leaves what it carried in the outbox: written again, it must be the same. */
  put(position: number, origin: EntryOrigin, message: AgentMessage, messageId?: string): void {
    const there = this.#entries[position];
    if (there !== undefined) {
      if (!isDeepStrictEqual(there.message, message)) throw new Error(`Position ${position} changes`);
      return;
    }
    this.#entries[position] = {
      position,
      origin,
      message,
      tokens: estimateMessage(message),
      ...(messageId === undefined ? {} : { messageId }),
    };
  }

  putInbox(messages: readonly PersonMessage[]): void {
    for (const message of messages) {
      const known = this.inbox.some(({ id }) => id === message.id) || this.isEntered(message.id);
      if (!known) this.inbox.push(message);
    }
  }
}
