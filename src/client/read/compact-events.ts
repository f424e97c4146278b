import type { AgentEvent } from "../../schema/agent-event.ts";
import type { SentSessionEvent } from "../../schema/session-event.ts";
import { type AnswerPart, diffUpdate } from "./answer-diff.ts";
import type { SessionEvent } from "./session-events.ts";

type SessionUpdate = SessionEvent & { readonly event: Extract<AgentEvent, { type: "MessageUpdate" }> };

/**
 * Prepares a session's events for one reader outside this process: an update contains the answer so far only when the
 * reader needs it, so that the size of an answer's updates grows with the answer and not with its square.
 */
export class CompactEvents {
  /** The parts of each loop's answer that the reader has. */
  readonly #answers = new Map<string, readonly AnswerPart[]>();

  /** @returns The events to send in place of this one: none for an update without news, several if several parts grew. */
  compact(sessionEvent: SessionEvent): readonly SentSessionEvent[] {
    const { event } = sessionEvent;
    if (event.type === "MessageUpdate") return this.#compactUpdate({ ...sessionEvent, event });
    if (event.type === "MessageEnd" || event.type === "AgentEnd") this.#answers.delete(event.loopId);
    return [sessionEvent];
  }

  #compactUpdate({ session, cursor, event }: SessionUpdate): readonly SentSessionEvent[] {
    const { type, loopId, message } = event;
    const known = this.#answers.get(loopId);
    const { isReset, deltas, parts } = diffUpdate(known ?? [], event);
    this.#answers.set(loopId, parts);
    const additions = deltas.map(({ type: kind, text, contentIndex }) => ({
      type,
      loopId,
      delta: { type: kind, delta: text, index: contentIndex },
    }));
    // A call begins with its name, which an addition does not contain.
    const isWhole = known === undefined || isReset || deltas.some(({ isFirst }) => isFirst);
    const sent = isWhole ? additions.slice(-1).map((addition) => ({ ...addition, message })) : additions;
    return sent.map((addition) => ({ session, cursor, event: addition }));
  }
}
