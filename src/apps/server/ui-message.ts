import type { AgentEvent, Outcome } from "../../client/index.ts";
import { REFUSED_TEXT } from "../../core/machine/approving.ts";
import { assertNever } from "../../platform/text/assert-never.ts";
import type { AssistantMessage, Content, Message, StopReason } from "../../schema/message.ts";
import { growth, remainder, type ShownPart } from "./shown-answer.ts";
import { UiAnswer } from "./ui-answer.ts";
import type { FinishReason, ToolOutput, UiChunk, WaitingShown } from "./ui-chunk.ts";

type Of<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

// Invariants
//   U1. A loop is one message of a page; its id is the loop's, so that who comes again replaces what it had.
//   U2. Of the same recorded events come the same chunks, whatever live output came between them, but for pieces: what a
//       page holds in the end depends on the record alone.
//   U3. A part is begun before it is grown and ended; a call has its input before it is asked for and before its output.

/** The newest output of a tool that is at work; all of it comes with the result. */
const PRELIMINARY_CHARS = 4_096;

/** A call that waits, with the moment since when: an answer is for this question and no other. */
export type Asked = WaitingShown & { readonly sinceMs: number };

/** What a page is told of a session's events, loop by loop. */
export class UiMessage {
  /** Recorded events of the loop that were taken. */
  #seen = 0;
  #loopId = "";
  #turn = 0;
  #answers = 0;
  #answer: UiAnswer | undefined;
  #shown: readonly ShownPart[] = [];
  /** Calls of the answer that have neither begun nor ended. */
  #unstarted: ReadonlySet<string> = new Set();
  readonly #output = new Map<string, string>();

  get loopId(): string {
    return this.#loopId;
  }

  get seen(): number {
    return this.#seen;
  }

  /** Some call may be waiting for a person. */
  get mayWait(): boolean {
    return this.#unstarted.size > 0;
  }

  take(event: AgentEvent): readonly UiChunk[] {
    if (event.type === "AgentStart") this.#begin(event);
    if (!isPassing(event)) this.#seen += 1;
    return this.#chunks(event);
  }

  /** The message goes on in another response. */
  continued(): UiChunk {
    return { type: "start", messageId: this.#loopId };
  }

  /** The calls that wait, and the end of this response: the page sends the answers with its next request. */
  asks(waiting: readonly Asked[]): readonly UiChunk[] | undefined {
    const own = waiting.filter(({ path }) => path.length === 0);
    if (own.length === 0 || !own.every(({ toolCallId }) => this.#unstarted.has(toolCallId))) return undefined;
    return [
      ...this.waiting(waiting),
      ...own.map((call) => ({
        type: "tool-approval-request" as const,
        approvalId: approvalId(call),
        toolCallId: call.toolCallId,
      })),
      { type: "finish-step" },
      {
        type: "finish",
        finishReason: "tool-calls",
        messageMetadata: { holdfast: { seen: this.#seen } },
      },
    ];
  }

  /** Who waits for a person, in the session and below it. */
  waiting(calls: readonly Asked[]): readonly UiChunk[] {
    const data = calls.map(({ sinceMs: _, ...call }) => call);
    return [{ type: "data-holdfast-waiting", id: `${this.#loopId}.waiting`, data, transient: true }];
  }

  #begin({ loopId }: Of<"AgentStart">): void {
    this.#loopId = loopId;
    this.#seen = 0;
    this.#answers = 0;
    this.#answer = undefined;
    this.#shown = [];
    this.#unstarted = new Set();
    this.#output.clear();
  }

  #chunks(event: AgentEvent): readonly UiChunk[] {
    switch (event.type) {
      case "AgentStart": {
        const { loopId, sessionId: session, agentId, agentName: agent = agentId, configSnapshot } = event;
        const model = configSnapshot === undefined ? {} : { model: configSnapshot.model };
        return [
          { type: "start", messageId: loopId, messageMetadata: { holdfast: { session, agent, ...model } } },
        ];
      }
      case "TurnStart":
        this.#turn = event.turnIndex;
        this.#output.clear();
        return [{ type: "start-step" }];
      case "MessageStart":
        return [];
      case "MessageUpdate":
        return this.#grow(event);
      case "MessageEnd":
        return this.#said(event.message);
      case "ToolExecutionStart":
        this.#started(event.toolCallId);
        return [];
      case "ToolExecutionUpdate":
        return this.#printed(event);
      case "ToolExecutionEnd":
        this.#started(event.toolCallId);
        return [resultOf(event)];
      case "ProgressMessage": {
        const { toolCallId, toolName, text } = event;
        const id = `${this.#turn}.${toolCallId}.progress`;
        const data = { toolCallId, toolName, text };
        return [{ type: "data-holdfast-progress", id, data, transient: true }];
      }
      case "TurnEnd":
        return [{ type: "finish-step" }];
      case "AgentEnd":
        return this.#ended(event);
      case "InputRejected":
      case "ParallelLoopStart":
      case "ParallelLoopEnd":
      case "CompactionStarted":
      case "CompactionEnded":
      case "PrunApplied":
      case "RevertApplied":
      case "ModelFellBack":
      case "DefinitionChanged":
      case "MessageRefused":
        return [{ type: "data-holdfast-event", id: `${this.#loopId}.${this.#seen}`, data: event }];
      default:
        return assertNever(event);
    }
  }

  #grow(event: Of<"MessageUpdate">): readonly UiChunk[] {
    const grown = growth(this.#shown, event);
    this.#shown = grown.shown;
    return this.#inMaking().grow(grown);
  }

  #said(message: Message): readonly UiChunk[] {
    switch (message.role) {
      case "assistant":
        return this.#answered(message);
      case "user": {
        // Before the first answer stands the prompt, which the page has already.
        if (this.#answers === 0) return [];
        const id = `${this.#loopId}.${this.#seen}`;
        return [{ type: "data-holdfast-message", id, data: { text: textOf(message.content) } }];
      }
      case "toolResult":
        return [];
    }
  }

  #answered(message: AssistantMessage): readonly UiChunk[] {
    const answer = this.#inMaking();
    const rest = answer.grow(remainder(this.#shown, message));
    const ends = answer.end(message.content);
    this.#answers += 1;
    this.#answer = undefined;
    this.#shown = [];
    const calls = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
    this.#unstarted = new Set(calls);
    return [...rest, ...ends];
  }

  #inMaking(): UiAnswer {
    this.#answer ??= new UiAnswer(`${this.#loopId}.${this.#answers}`);
    return this.#answer;
  }

  #started(toolCallId: string): void {
    if (!this.#unstarted.has(toolCallId)) return;
    this.#unstarted = new Set([...this.#unstarted].filter((id) => id !== toolCallId));
  }

  #printed({ toolCallId, partialResult }: Of<"ToolExecutionUpdate">): readonly UiChunk[] {
    const text = (this.#output.get(toolCallId) ?? "") + textOf(partialResult.content);
    const newest = text.slice(-PRELIMINARY_CHARS);
    this.#output.set(toolCallId, newest);
    const output: ToolOutput = { content: [{ type: "text", text: newest }] };
    return [{ type: "tool-output-available", toolCallId, output, dynamic: true, preliminary: true }];
  }

  #ended({ outcome, usage }: Of<"AgentEnd">): readonly UiChunk[] {
    const last = this.#answer?.end([]) ?? [];
    const how = outcome === undefined ? {} : { outcome };
    const messageMetadata = { holdfast: { seen: this.#seen, usage, ...how } };
    return [...last, { type: "message-metadata", messageMetadata }, ...endingOf(outcome)];
  }
}

export function approvalId({ toolCallId, sinceMs }: Pick<Asked, "toolCallId" | "sinceMs">): string {
  return `${sinceMs}.${toolCallId}`;
}

/** Live output, of which nothing is recorded. */
function isPassing({ type }: AgentEvent): boolean {
  return type === "MessageUpdate" || type === "ToolExecutionUpdate" || type === "ProgressMessage";
}

function resultOf({ toolCallId, result, isError }: Of<"ToolExecutionEnd">): UiChunk {
  if (!isError) return { type: "tool-output-available", toolCallId, output: result, dynamic: true };
  const errorText = textOf(result.content);
  if (errorText.startsWith(REFUSED_TEXT)) return { type: "tool-output-denied", toolCallId };
  return { type: "tool-output-error", toolCallId, errorText, dynamic: true };
}

/** How a message ends. */
export function endingOf(outcome: Outcome | undefined): readonly UiChunk[] {
  switch (outcome?.type) {
    case "stopped":
      return [{ type: "abort", reason: outcome.reason }];
    case "failed":
      return [
        { type: "error", errorText: `${outcome.fault}: ${outcome.message}` },
        { type: "finish", finishReason: "error" },
      ];
    case "rejected":
      return [
        { type: "error", errorText: `The prompt was not let in: ${outcome.reason}` },
        { type: "finish", finishReason: "error" },
      ];
    case "answered":
      return [{ type: "finish", finishReason: FINISHED[outcome.stopReason] ?? "other" }];
    default:
      return [{ type: "finish", finishReason: "other" }];
  }
}

const FINISHED: Partial<Record<StopReason, FinishReason>> = {
  stop: "stop",
  length: "length",
  toolUse: "tool-calls",
  error: "error",
  guardRail: "content-filter",
};

export function textOf(content: readonly Content[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
