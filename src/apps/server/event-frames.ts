import type { AgentEvent } from "../../client/index.ts";
import { type AnswerPart, diffUpdate } from "./answer-diff.ts";
import { type Frame, formatFrame } from "./sse-frame.ts";

type Update = Extract<AgentEvent, { type: "MessageUpdate" }>;

/** An update: the whole answer so far for a reader that needs a new start, otherwise only the addition. */
type WireUpdate = Omit<Update, "message" | "delta"> & {
  readonly message?: Update["message"];
  readonly delta: Update["delta"] & { readonly index: number };
};

/** Formats a session's events for one reader: an update contains only what is new in it. */
export class EventFrames {
  readonly #answers = new Map<string, readonly AnswerPart[]>();

  /** @param cursor - Where the reader may resume after this event. */
  toText(cursor: string, event: AgentEvent): string {
    return this.#toFrames(cursor, event).map(formatFrame).join("");
  }

  #toFrames(id: string, event: AgentEvent): readonly Frame[] {
    if (event.type !== "MessageUpdate") {
      if (event.type === "MessageEnd" || event.type === "AgentEnd") this.#answers.delete(event.loopId);
      return [{ id, data: event }];
    }
    const { loopId, message } = event;
    const known = this.#answers.get(loopId);
    const { isReset, deltas, parts } = diffUpdate(known ?? [], event);
    this.#answers.set(loopId, parts);
    const last = deltas.at(-1);
    if (last === undefined) return [];
    const toWire = (piece: typeof last, whole: boolean): WireUpdate => ({
      type: "MessageUpdate",
      loopId,
      ...(whole ? { message } : {}),
      delta: { type: piece.type, delta: piece.text, index: piece.index },
    });
    // A call begins with its name, which a piece does not contain.
    const isWhole = known === undefined || isReset || deltas.some(({ isFirst }) => isFirst);
    if (isWhole) return [{ id, data: toWire(last, true) }];
    return deltas.map((piece) => ({ id, data: toWire(piece, false) }));
  }
}
