import { isUserDenial } from "../../core/machine/denial-texts.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";
import type { StreamEvent } from "./stream-event.ts";

/** What was delivered of the answer in progress. */
type Delivered = { readonly text: string; readonly thinking: string };
type DeltaType = "text-delta" | "reasoning-delta";

const NOTHING: Delivered = { text: "", thinking: "" };

/** The state of one loop. */
type LoopState = {
  turn: number;
  delivered: Delivered;
  /** Calls of the turn that have no result yet. */
  readonly openCalls: Set<string>;
};

// Invariants
//   P1. The text pieces of a turn since its start, or since the last `attempt-discarded`, add up to the recorded text.
//   P2. `tool-call` arrives once for each call of a recorded answer, and a result or an error after it.

/** Builds small events from complete ones. */
export class StreamEventBuilder {
  readonly #loops = new Map<string, LoopState>();

  /** Whether a call may wait for a user. */
  get hasOpenCalls(): boolean {
    return [...this.#loops.values()].some(({ openCalls }) => openCalls.size > 0);
  }

  toStreamEvents(event: AgentEvent): readonly StreamEvent[] {
    switch (event.type) {
      case "AgentStart": {
        const { loopId, agentName, configSnapshot } = event;
        const agent = agentName === undefined ? {} : { agent: agentName };
        const model = configSnapshot === undefined ? {} : { model: configSnapshot.model };
        return [{ type: "start", loopId, ...agent, ...model }];
      }
      case "AgentEnd": {
        const { loopId, outcome, usage } = event;
        this.#loops.delete(loopId);
        return outcome === undefined ? [] : [{ type: "finish", loopId, outcome, totalUsage: usage }];
      }
      case "TurnStart": {
        const { loopId, turnIndex: turn } = event;
        this.#loops.set(loopId, { turn, delivered: NOTHING, openCalls: new Set() });
        return [{ type: "start-step", loopId, turn }];
      }
      case "TurnEnd": {
        const { loopId, turnIndex: turn, message, usage } = event;
        this.#getLoop(loopId).openCalls.clear();
        return [{ type: "finish-step", loopId, turn, finishReason: message.stopReason, usage }];
      }
      case "MessageUpdate":
        return this.#deliver(event.loopId, readParts(event.message));
      case "MessageEnd":
        return event.message.role === "assistant" ? this.#endAnswer(event.loopId, event.message) : [];
      case "ToolExecutionUpdate": {
        const { loopId, toolCallId, toolName, partialResult: output } = event;
        return [{ type: "tool-result", loopId, toolCallId, toolName, output, preliminary: true }];
      }
      case "ToolExecutionEnd": {
        const { loopId, toolCallId, toolName, result, isError } = event;
        this.#getLoop(loopId).openCalls.delete(toolCallId);
        const call = { loopId, toolCallId, toolName };
        if (!isError) return [{ type: "tool-result", ...call, output: result }];
        const error = joinText(result.content);
        const type = isUserDenial(error) ? "tool-output-denied" : "tool-error";
        return [{ type, ...call, error }];
      }
      case "ProgressMessage": {
        const { loopId, toolCallId, toolName, text } = event;
        return [{ type: "progress", loopId, toolCallId, toolName, text }];
      }
      default:
        return [];
    }
  }

  #endAnswer(loopId: string, message: AssistantMessage): readonly StreamEvent[] {
    const loop = this.#getLoop(loopId);
    const recorded = readParts(message);
    // A vendor may report thinking that it does not store.
    const thinking = recorded.thinking === "" ? loop.delivered.thinking : recorded.thinking;
    const calls = message.content.flatMap((part): readonly StreamEvent[] => {
      if (part.type !== "toolCall") return [];
      loop.openCalls.add(part.id);
      const { id: toolCallId, name: toolName, arguments: input } = part;
      return [{ type: "tool-call", loopId, toolCallId, toolName, input }];
    });
    return [...this.#deliver(loopId, { ...recorded, thinking }), ...calls];
  }

  /** Delivers what is new in an answer. An answer that does not continue the earlier one replaces it. */
  #deliver(loopId: string, now: Delivered): readonly StreamEvent[] {
    const loop = this.#getLoop(loopId);
    const before = loop.delivered;
    loop.delivered = now;
    const isContinued = now.text.startsWith(before.text) && now.thinking.startsWith(before.thinking);
    const start = isContinued ? before : NOTHING;
    return [
      ...(isContinued ? [] : [{ type: "attempt-discarded" as const, loopId, turn: loop.turn }]),
      ...toDelta("reasoning-delta", loopId, now.thinking.slice(start.thinking.length)),
      ...toDelta("text-delta", loopId, now.text.slice(start.text.length)),
    ];
  }

  #getLoop(loopId: string): LoopState {
    const loop = this.#loops.get(loopId) ?? { turn: 0, delivered: NOTHING, openCalls: new Set() };
    this.#loops.set(loopId, loop);
    return loop;
  }
}

/** Joins the texts of answers: a blank line separates two answers, and an attempt from the one before it. */
export class AnswerText {
  #hasText = false;
  #isSeparate = false;

  add(event: StreamEvent): readonly string[] {
    if (event.type === "start-step" || event.type === "attempt-discarded") this.#isSeparate = this.#hasText;
    if (event.type !== "text-delta") return [];
    const separator = this.#isSeparate ? "\n\n" : "";
    this.#hasText = true;
    this.#isSeparate = false;
    return [separator + event.text];
  }
}

function toDelta(type: DeltaType, loopId: string, text: string): readonly StreamEvent[] {
  return text === "" ? [] : [{ type, loopId, text }];
}

function readParts({ content }: AssistantMessage): Delivered {
  return {
    text: joinText(content),
    thinking: content.flatMap((part) => (part.type === "thinking" ? [part.thinking] : [])).join(""),
  };
}
