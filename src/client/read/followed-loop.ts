import type { LoopEvent } from "../../schema/loop-event.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { Delta } from "../../store/stream/stream-hub.ts";

/** What a watcher has read of one loop. */
export class FollowedLoop {
  /** The number of the next event. */
  next = 0;
  ended = false;
  /** The newest turn that has begun, and the number of its first event. */
  turn = 0;
  turnAt = 0;
  /** Whether the turn's answer is recorded. */
  #hasAnswer = false;
  /** The turn's calls whose result is recorded. */
  readonly #results = new Set<string>();

  record({ sequence, body }: LoopEvent, message: AgentMessage | undefined): void {
    this.next = sequence + 1;
    switch (body.type) {
      case "TurnStart":
        this.turn = body.turn;
        this.turnAt = sequence;
        this.#hasAnswer = false;
        this.#results.clear();
        break;
      case "MessageEnd":
        if (message?.role === "assistant") this.#hasAnswer = true;
        break;
      case "ToolExecutionEnd":
        this.#results.add(body.toolCallId);
        break;
      case "AgentEnd":
        this.ended = true;
        break;
    }
  }

  /** Tells whether the part that a delta belongs to is not recorded yet. */
  isOpen({ body, turn }: Delta): boolean {
    if (this.ended || turn < this.turn) return false;
    if (turn > this.turn) return body.type !== "recorded";
    switch (body.type) {
      case "text":
      case "thinking":
      case "tool-call":
      case "waiting":
        return !this.#hasAnswer;
      case "tool-start":
      case "tool-output":
      case "progress":
        return !this.#results.has(body.toolCallId);
      case "attempt":
      case "dropped":
        return true;
      case "recorded":
        return false;
    }
  }
}
