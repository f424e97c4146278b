import { addPiece, emptyAnswer, type LivePiece } from "../core/live-answer.ts";
import type { AgentEvent } from "../schema/agent-event.ts";
import type { AssistantMessage } from "../schema/message.ts";
import type { Delta, DeltaBody } from "../stream/stream.ts";

type LiveAnswer = {
  readonly generation: number;
  readonly attempt: number;
  readonly message: AssistantMessage;
};

// Invariants
//   L1. An answer has one MessageStart and one MessageEnd, whether it was seen live, read from the record, tried again,
//       or failed (LOOP-23).
//   L2. A MessageUpdate comes between the two, and holds all that its attempt has said so far.
//   L3. A tool's updates come between its start and its end.

/** What live output adds to the recorded events of a session. */
export class LiveEvents {
  /** Followed from their beginning. */
  readonly #loops = new Set<string>();
  /** Those that began, as `loop/turn`. */
  readonly #turns = new Set<string>();
  readonly #answers = new Map<string, LiveAnswer>();
  /** Turns whose answer has had its MessageStart. */
  readonly #started = new Set<string>();
  /** Calls, as `loop/turn/id`, that have started and not ended. */
  readonly #atWork = new Set<string>();
  /** Output of calls whose start is not recorded yet. */
  readonly #early = new Map<string, AgentEvent[]>();
  #turn = 0;

  /** What to show of a recorded event, in order. */
  recorded(event: AgentEvent): readonly AgentEvent[] {
    switch (event.type) {
      case "AgentStart":
        this.#loops.add(event.loopId);
        return [event];
      case "TurnStart":
        this.#turn = event.turnIndex;
        this.#turns.add(`${event.loopId}/${event.turnIndex}`);
        return [event];
      case "MessageStart":
        return event.message.role === "assistant" && this.#started.has(this.#at(event.loopId)) ? [] : [event];
      case "MessageEnd":
        if (event.message.role === "assistant") this.#forget(this.#at(event.loopId));
        return [event];
      case "ToolExecutionStart": {
        const call = `${this.#at(event.loopId)}/${event.toolCallId}`;
        this.#atWork.add(call);
        const early = this.#early.get(call) ?? [];
        this.#early.delete(call);
        return [event, ...early];
      }
      case "ToolExecutionEnd":
        this.#atWork.delete(`${this.#at(event.loopId)}/${event.toolCallId}`);
        return [event];
      case "AgentEnd":
        for (const kept of [this.#turns, this.#answers, this.#started, this.#atWork, this.#early])
          kept.clear();
        return [event];
      default:
        return [event];
    }
  }

  /** @param asked - The model and vendor that answer. */
  live(delta: Delta, asked: { readonly model: string; readonly provider: string }): readonly AgentEvent[] {
    const { body } = delta;
    switch (body.type) {
      case "attempt":
        this.#begin(delta, asked);
        return [];
      case "text":
      case "thinking":
      case "tool-call":
        return this.#piece(delta, pieceOf(body), asked);
      case "tool-output":
      case "progress":
        return this.#output(delta, outputOf(delta.loopId, body), body.toolCallId);
      default:
        return [];
    }
  }

  #at(loopId: string): string {
    return `${loopId}/${this.#turn}`;
  }

  #forget(turn: string): void {
    this.#answers.delete(turn);
    this.#started.delete(turn);
  }

  #begin(delta: Delta, { model, provider }: { model: string; provider: string }): LiveAnswer {
    const { loopId, turn, generation, attempt, atMs } = delta;
    const message = emptyAnswer(model, provider, atMs, { loopId, turnIndex: turn });
    const begun = { generation, attempt, message };
    const known = this.#answers.get(`${loopId}/${turn}`);
    if (known !== undefined && isOlder(delta, known)) return known;
    this.#answers.set(`${loopId}/${turn}`, begun);
    return begun;
  }

  #piece(delta: Delta, piece: LivePiece, asked: { model: string; provider: string }): readonly AgentEvent[] {
    const { loopId } = delta;
    const turn = `${loopId}/${delta.turn}`;
    const known = this.#answers.get(turn);
    if (known !== undefined && isOlder(delta, known)) return [];
    const isNew = known === undefined || isOlder(known, delta);
    const before = isNew ? this.#begin(delta, asked) : known;
    const message = addPiece(before.message, piece);
    this.#answers.set(turn, { ...before, message });
    // A turn whose beginning is about to be read: its pieces are kept, and shown with the next one.
    if (this.#loops.has(loopId) && !this.#turns.has(turn)) return [];
    const update: AgentEvent = {
      type: "MessageUpdate",
      loopId,
      message,
      delta: { type: piece.type, delta: piece.delta },
    };
    if (this.#started.has(turn)) return [update];
    this.#started.add(turn);
    this.#turn = delta.turn;
    return [{ type: "MessageStart", loopId, message: { ...message, content: [] } }, update];
  }

  #output({ loopId, turn }: Delta, event: AgentEvent, toolCallId: string): readonly AgentEvent[] {
    const call = `${loopId}/${turn}/${toolCallId}`;
    if (this.#atWork.has(call) || !this.#loops.has(loopId)) return [event];
    this.#early.set(call, [...(this.#early.get(call) ?? []), event]);
    return [];
  }
}

type Execution = { readonly generation: number; readonly attempt: number };

function isOlder(one: Execution, other: Execution): boolean {
  return (
    one.generation < other.generation || (one.generation === other.generation && one.attempt < other.attempt)
  );
}

function pieceOf(body: Extract<DeltaBody, { type: "text" | "thinking" | "tool-call" }>): LivePiece {
  if (body.type !== "tool-call") return { type: body.type, delta: body.text };
  const { toolCallId, toolName, text } = body;
  return { type: "toolCall", delta: text, toolCallId, toolName };
}

function outputOf(
  loopId: string,
  body: Extract<DeltaBody, { type: "tool-output" | "progress" }>,
): AgentEvent {
  const { toolCallId, toolName, text } = body;
  if (body.type === "progress") return { type: "ProgressMessage", loopId, toolCallId, toolName, text };
  const partialResult = { content: [{ type: "text" as const, text }] };
  return { type: "ToolExecutionUpdate", loopId, toolCallId, toolName, partialResult };
}
