import type { AgentEvent, Outcome } from "../../client/index.ts";
import { type AnswerPart, diffFinalAnswer, diffUpdate } from "../../client/read/answer-diff.ts";
import { isLiveOutput } from "../../client/read/live-events.ts";
import { isUserDenial } from "../../core/machine/denial-texts.ts";
import { assertNever } from "../../platform/text/assert-never.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AssistantMessage, Message, StopReason } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";
import { UiAnswer } from "./ui-answer.ts";
import type { FinishReason, ToolOutput, UiChunk, WaitingCallData } from "./ui-chunk.ts";
import { toUiUserMessage } from "./ui-file.ts";

type EventOfType<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

// Invariants
//   U1. A loop is one message of a page; its id is the loop's id, so that a reader that returns replaces its old message.
//   U2. The same recorded events produce the same chunks, except for deltas, whatever live output came between them: the
//       final content of a page depends on the record alone.
//   U3. A part begins before it grows and ends. A call has its input before its approval request and its output.

/** The size of a running tool's newest output; the result contains all of it. */
const PRELIMINARY_CHARS = 4_096;

/** A pending call with the time since when it waits: an answer applies to this question and no other. */
export type TimedWaitingCall = WaitingCallData & { readonly sinceMs: number };

/** Converts a session's events to chunks for a page, loop by loop. */
export class UiMessage {
  /** The number of processed recorded events of the loop. */
  #seenEvents = 0;
  #loopId = "";
  #turn = 0;
  #answers = 0;
  #answer: UiAnswer | undefined;
  #sentParts: readonly AnswerPart[] = [];
  /** Calls of the answer that have neither begun nor ended. */
  #unstartedCalls: ReadonlySet<string> = new Set();
  readonly #output = new Map<string, string>();

  get loopId(): string {
    return this.#loopId;
  }

  get seenEvents(): number {
    return this.#seenEvents;
  }

  /** Whether a call may be waiting for a user. */
  get mayWait(): boolean {
    return this.#unstartedCalls.size > 0;
  }

  toChunks(event: AgentEvent): readonly UiChunk[] {
    if (event.type === "AgentStart") this.#startLoop(event);
    if (!isLiveOutput(event)) this.#seenEvents += 1;
    return this.#eventToChunks(event);
  }

  /** Formats the start of a message that continues in another response. */
  formatContinuation(): UiChunk {
    return { type: "start", messageId: this.#loopId };
  }

  /** Requests answers to the pending calls, and ends this response: the page sends the answers with its next request. */
  formatApprovalRequests(waiting: readonly TimedWaitingCall[]): readonly UiChunk[] | undefined {
    const own = waiting.filter(({ path }) => path.length === 0);
    if (own.length === 0 || !own.every(({ toolCallId }) => this.#unstartedCalls.has(toolCallId)))
      return undefined;
    return [
      ...this.formatWaiting(waiting),
      ...own.map((call) => ({
        type: "tool-approval-request" as const,
        approvalId: formatApprovalId(call),
        toolCallId: call.toolCallId,
      })),
      { type: "finish-step" },
      {
        type: "finish",
        finishReason: "tool-calls",
        messageMetadata: { holdfast: { seenEvents: this.#seenEvents } },
      },
    ];
  }

  /** Formats the pending calls of the session and of the agents below it. */
  formatWaiting(calls: readonly TimedWaitingCall[]): readonly UiChunk[] {
    const data = calls.map(({ sinceMs: _, ...call }) => call);
    return [{ type: "data-holdfast-approvals", id: `${this.#loopId}.approvals`, data, transient: true }];
  }

  #startLoop({ loopId }: EventOfType<"AgentStart">): void {
    this.#loopId = loopId;
    this.#seenEvents = 0;
    this.#answers = 0;
    this.#answer = undefined;
    this.#sentParts = [];
    this.#unstartedCalls = new Set();
    this.#output.clear();
  }

  #eventToChunks(event: AgentEvent): readonly UiChunk[] {
    switch (event.type) {
      case "AgentStart": {
        const { loopId, sessionId: session, agentId, agentName: agent = agentId, configSnapshot } = event;
        const model = omitUndefined({ model: configSnapshot?.model });
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
        return this.#applyUpdate(event);
      case "MessageEnd":
        return this.#toMessageChunks(event.message);
      case "ToolExecutionStart":
        this.#markStarted(event.toolCallId);
        return [];
      case "ToolExecutionUpdate":
        return this.#toOutputChunks(event);
      case "ToolExecutionEnd":
        this.#markStarted(event.toolCallId);
        return [toResultChunk(event)];
      case "ProgressMessage": {
        const { toolCallId, toolName, text } = event;
        const id = `${this.#turn}.${toolCallId}.progress`;
        const data = { toolCallId, toolName, text };
        return [{ type: "data-holdfast-progress", id, data, transient: true }];
      }
      case "TurnEnd":
        return [{ type: "finish-step" }];
      case "AgentEnd":
        return this.#toEndChunks(event);
      case "InputRejected":
      case "ParallelLoopStart":
      case "ParallelLoopEnd":
      case "CompactionStarted":
      case "CompactionEnded":
      case "PrunApplied":
      case "RevertApplied":
      case "ModelFallback":
      case "DefinitionChanged":
      case "MessageRejected":
        return [{ type: "data-holdfast-event", id: `${this.#loopId}.${this.#seenEvents}`, data: event }];
      default:
        return assertNever(event);
    }
  }

  #applyUpdate(event: EventOfType<"MessageUpdate">): readonly UiChunk[] {
    const grown = diffUpdate(this.#sentParts, event);
    this.#sentParts = grown.parts;
    return this.#getCurrentAnswer().append(grown);
  }

  #toMessageChunks(message: Message): readonly UiChunk[] {
    switch (message.role) {
      case "assistant":
        return this.#finishAnswer(message);
      case "user": {
        // Prompts precede the first answer; the page already has them.
        if (this.#answers === 0) return [];
        const id = `${this.#loopId}.${this.#seenEvents}`;
        return [{ type: "data-holdfast-message", id, data: toUiUserMessage(message.content) }];
      }
      case "toolResult":
        return [];
    }
  }

  #finishAnswer(message: AssistantMessage): readonly UiChunk[] {
    const answer = this.#getCurrentAnswer();
    const remaining = answer.append(diffFinalAnswer(this.#sentParts, message));
    const ends = answer.end(message.content);
    this.#answers += 1;
    this.#answer = undefined;
    this.#sentParts = [];
    const calls = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
    this.#unstartedCalls = new Set(calls);
    return [...remaining, ...ends];
  }

  #getCurrentAnswer(): UiAnswer {
    this.#answer ??= new UiAnswer(`${this.#loopId}.${this.#answers}`);
    return this.#answer;
  }

  #markStarted(toolCallId: string): void {
    if (!this.#unstartedCalls.has(toolCallId)) return;
    this.#unstartedCalls = new Set([...this.#unstartedCalls].filter((id) => id !== toolCallId));
  }

  #toOutputChunks({ toolCallId, partialResult }: EventOfType<"ToolExecutionUpdate">): readonly UiChunk[] {
    const text = (this.#output.get(toolCallId) ?? "") + joinText(partialResult.content);
    const newest = text.slice(-PRELIMINARY_CHARS);
    this.#output.set(toolCallId, newest);
    const output: ToolOutput = { content: [{ type: "text", text: newest }] };
    return [{ type: "tool-output-available", toolCallId, output, dynamic: true, preliminary: true }];
  }

  #toEndChunks({ outcome, usage }: EventOfType<"AgentEnd">): readonly UiChunk[] {
    const last = this.#answer?.end([]) ?? [];
    const outcomeField = omitUndefined({ outcome });
    const messageMetadata = { holdfast: { seenEvents: this.#seenEvents, usage, ...outcomeField } };
    return [...last, { type: "message-metadata", messageMetadata }, ...toEndingChunks(outcome)];
  }
}

export function formatApprovalId({
  toolCallId,
  sinceMs,
}: Pick<TimedWaitingCall, "toolCallId" | "sinceMs">): string {
  return `${sinceMs}.${toolCallId}`;
}

function toResultChunk({ toolCallId, result, isError }: EventOfType<"ToolExecutionEnd">): UiChunk {
  if (!isError) return { type: "tool-output-available", toolCallId, output: result, dynamic: true };
  const errorText = joinText(result.content);
  if (isUserDenial(errorText)) return { type: "tool-output-denied", toolCallId };
  return { type: "tool-output-error", toolCallId, errorText, dynamic: true };
}

/** Returns the chunks that end a message. */
export function toEndingChunks(outcome: Outcome | undefined): readonly UiChunk[] {
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
        { type: "error", errorText: `The prompt was rejected: ${outcome.reason}` },
        { type: "finish", finishReason: "error" },
      ];
    case "answered":
      return [{ type: "finish", finishReason: FINISH_REASONS[outcome.stopReason] ?? "other" }];
    default:
      return [{ type: "finish", finishReason: "other" }];
  }
}

const FINISH_REASONS: Partial<Record<StopReason, FinishReason>> = {
  stop: "stop",
  length: "length",
  toolUse: "tool-calls",
  error: "error",
  guardRail: "content-filter",
};
