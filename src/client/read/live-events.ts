import {
  addPiece,
  buildEmptyAnswer,
  findContentIndex,
  type LivePiece,
} from "../../conversation/live-answer.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { isOlder } from "../../store/stream/attempt-filter.ts";
import type { Delta, DeltaBody } from "../../store/stream/stream-hub.ts";
import { LiveCalls } from "./live-calls.ts";
import { PROGRESS_SOURCES } from "./progress-sources.ts";

type Execution = Pick<Delta, "run" | "command" | "generation" | "attempt" | "turn">;
type LiveAnswer = { readonly execution: Execution; readonly message: AssistantMessage };
type AnsweringModel = { readonly model: string; readonly provider: string };
type PieceBody = Extract<DeltaBody, { readonly type: "text" | "thinking" | "tool-call" }>;

// Invariants
//   L1. An answer has one MessageStart and one MessageEnd, whether it was live, recorded, retried,
//       or failed (LOOP-23).
//   L2. MessageUpdates arrive between the two; each contains the whole text of its attempt so far.
//   L3. A tool's updates arrive between its start and its end.

/** The display state of one loop. */
class LiveLoop {
  turn = 0;
  /** Whether its newest turn has begun. */
  hasBegun = false;
  /** Whether the MessageStart of this turn's answer was emitted. */
  hasStarted = false;
  answer: LiveAnswer | undefined;
  /** The number of dropped chunks that were not reported yet. */
  dropped = 0;
  readonly calls = new LiveCalls();
}

/** Tells whether an event is live output, which the record does not contain. */
export function isLiveOutput({ type }: AgentEvent): boolean {
  return type === "MessageUpdate" || type === "ToolExecutionUpdate" || type === "ProgressMessage";
}

/** Adds live output to the recorded events of a session. */
export class LiveEvents {
  readonly #loops = new Map<string, LiveLoop>();

  /** Returns the events to emit for a recorded event, in order. */
  addRecorded(event: AgentEvent): readonly AgentEvent[] {
    if (event.type === "ParallelLoopStart" || event.type === "ParallelLoopEnd") return [event];
    const loop = this.#getLoop(event.loopId);
    switch (event.type) {
      case "TurnStart":
        loop.turn = event.turnIndex;
        loop.hasBegun = true;
        loop.hasStarted = false;
        loop.calls.beginTurn(event.turnIndex);
        if (loop.answer?.execution.turn !== event.turnIndex) loop.answer = undefined;
        return [event];
      case "MessageStart":
        return event.message.role === "assistant" && loop.hasStarted ? [] : [event];
      case "MessageEnd":
        if (event.message.role !== "assistant") return [event];
        loop.answer = undefined;
        loop.hasStarted = false;
        return [event];
      case "ToolExecutionStart":
        return [event, ...loop.calls.start(event.toolCallId)];
      case "ToolExecutionEnd":
        loop.calls.end(event.toolCallId);
        return [event];
      case "AgentEnd":
        this.#loops.delete(event.loopId);
        return [event];
      default:
        return [event];
    }
  }

  /** @param model - The model and vendor that answer. */
  addLive(delta: Delta, model: AnsweringModel): readonly AgentEvent[] {
    const { body, loopId, turn } = delta;
    const answer = this.#loops.get(loopId);
    const loop = answer ?? this.#getLoop(loopId);
    // If the loop's record is not read, all output is emitted as it arrives.
    if (answer === undefined) {
      loop.turn = turn;
      loop.hasBegun = true;
      loop.calls.replay();
    }
    switch (body.type) {
      case "attempt":
        beginAnswer(loop, delta, model);
        return [];
      case "waiting":
        return [createProgress(loopId, PROGRESS_SOURCES.model, body.text)];
      case "dropped":
        loop.dropped += body.count;
        return loop.hasBegun && loop.turn === turn ? toDroppedEvents(loop, loopId) : [];
      case "text":
      case "thinking":
      case "tool-call":
        return [...toDroppedEvents(loop, loopId), ...toPieceEvents(loop, delta, body, model)];
      case "tool-output":
      case "progress":
        return loop.calls.output(delta, body);
      case "tool-start":
        return loop.calls.restart(delta, body);
      case "recorded":
        return [];
    }
  }

  /** Restores the state from earlier output when a reader resumes. */
  restore(delta: Delta, model: AnsweringModel): void {
    const { body, loopId } = delta;
    const loop = this.#getLoop(loopId);
    switch (body.type) {
      case "attempt":
        beginAnswer(loop, delta, model);
        break;
      case "text":
      case "thinking":
      case "tool-call":
        applyPiece(loop, delta, body, model);
        break;
      case "tool-output":
      case "progress":
        loop.calls.output(delta, body);
        break;
      case "tool-start":
        loop.calls.restart(delta, body);
        break;
      case "waiting":
      case "dropped":
      case "recorded":
        break;
    }
  }

  /** Tells whether the MessageStart of the answer in the loop's turn was emitted. */
  hasStarted(loopId: string): boolean {
    return this.#loops.get(loopId)?.hasStarted === true;
  }

  start(loopId: string): void {
    this.#getLoop(loopId).hasStarted = true;
  }

  #getLoop(loopId: string): LiveLoop {
    const loop = this.#loops.get(loopId) ?? new LiveLoop();
    this.#loops.set(loopId, loop);
    return loop;
  }
}

/** Begins an empty answer for an execution that replaces an older one; ignores an execution that is already replaced. */
function beginAnswer(
  loop: LiveLoop,
  delta: Delta,
  { model, provider }: AnsweringModel,
): LiveAnswer | undefined {
  const { loopId, turn, atMs, run, command, generation, attempt } = delta;
  const answer = loop.answer;
  if (turn < loop.turn || (answer !== undefined && isPast(delta, answer.execution))) return undefined;
  const message = buildEmptyAnswer(model, provider, atMs, { loopId, turnIndex: turn });
  loop.answer = { execution: { run, command, generation, attempt, turn }, message };
  return loop.answer;
}

function isPast(one: Execution, other: Execution): boolean {
  return one.turn < other.turn || (one.turn === other.turn && isOlder(one, other));
}

function applyPiece(
  loop: LiveLoop,
  delta: Delta,
  body: PieceBody,
  model: AnsweringModel,
): AssistantMessage | undefined {
  const answer = loop.answer;
  const isSame =
    answer !== undefined && !isPast(answer.execution, delta) && answer.execution.run === delta.run;
  const before = isSame && !isPast(delta, answer.execution) ? answer : beginAnswer(loop, delta, model);
  if (before === undefined) return undefined;
  const message = addPiece(before.message, toPiece(body));
  loop.answer = { ...before, message };
  return message;
}

function toPieceEvents(
  loop: LiveLoop,
  delta: Delta,
  body: PieceBody,
  model: AnsweringModel,
): readonly AgentEvent[] {
  const { loopId, turn } = delta;
  const message = applyPiece(loop, delta, body, model);
  // A turn whose start is not read yet: its chunks are buffered and emitted with the next one.
  if (message === undefined || !loop.hasBegun || turn !== loop.turn) return [];
  const piece = toPiece(body);
  const { type, delta: deltaText } = piece;
  const index = findContentIndex(message.content, piece);
  const update: AgentEvent = {
    type: "MessageUpdate",
    loopId,
    message,
    delta: { type, delta: deltaText, index },
  };
  if (loop.hasStarted) return [update];
  loop.hasStarted = true;
  return [{ type: "MessageStart", loopId, message: { ...message, content: [] } }, update];
}

function toPiece(body: PieceBody): LivePiece {
  if (body.type !== "tool-call") return { type: body.type, delta: body.text };
  const { toolCallId, toolName, text } = body;
  return { type: "toolCall", delta: text, toolCallId, toolName };
}

/** Reports dropped chunks as a line of progress that belongs to no call, because no kind of event exists for it. */
function toDroppedEvents(loop: LiveLoop, loopId: string): readonly AgentEvent[] {
  const { dropped } = loop;
  if (dropped === 0) return [];
  loop.dropped = 0;
  const text = `${dropped} ${dropped === 1 ? "chunk" : "chunks"} of live output dropped; the record is complete`;
  return [createProgress(loopId, PROGRESS_SOURCES.liveOutput, text)];
}

function createProgress(loopId: string, source: string, text: string): AgentEvent {
  return { type: "ProgressMessage", loopId, toolCallId: source, toolName: source, text };
}
