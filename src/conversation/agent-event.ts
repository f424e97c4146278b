import { buildNoAnswer } from "../core/machine/outbox.ts";
import { assertNever } from "../platform/text/assert-never.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import { ProtocolError } from "../platform/text/protocol-error.ts";
import { formatTimestamp } from "../platform/text/timestamp.ts";
import type { AgentEvent, ConfigSnapshot } from "../schema/agent-event.ts";
import type { EventBody, LoopEvent } from "../schema/loop-event.ts";
import type { AgentMessage, AssistantMessage, Message, ToolResultMessage } from "../schema/message.ts";
import type { ContinuationKind } from "../schema/record.ts";
import { COMPACTION_KIND } from "./message-visibility.ts";
import { formatMemo } from "./pruning/memo.ts";

/** The fields that a loop's record has for all of its events. */
export type EventContext = {
  readonly agentId: string;
  readonly agentName?: string | undefined;
  readonly sessionId: string;
  readonly loopId: string;
  readonly parentLoopId?: string | undefined;
  readonly kind: ContinuationKind;
  readonly config?: ConfigSnapshot | undefined;
};

/** Returns the range of entries that an event refers to, end exclusive. Empty for none. */
export function getPositionRange(body: EventBody): { readonly from: number; readonly to: number } {
  if (body.type === "AgentEnd") return { from: body.from, to: body.to };
  if (body.type === "TurnEnd") return { from: body.position, to: body.position + 1 + body.results };
  if (body.type === "PrunApplied") {
    const from = body.pruned[0]?.from ?? 0;
    return { from, to: Math.max(from, body.pruned.at(-1)?.to ?? 0, (body.memo?.position ?? -1) + 1) };
  }
  if (!("position" in body) || body.position === undefined) return { from: 0, to: 0 };
  return { from: body.position, to: body.position + 1 };
}

/**
 * Builds a complete event from a recorded one.
 *
 * @param messages - The messages at the event's `getPositionRange`, in order.
 */
export function buildAgentEvent(
  place: EventContext,
  { body, atMs }: LoopEvent,
  messages: readonly AgentMessage[],
): AgentEvent {
  const { loopId } = place;
  const timestamp = formatTimestamp(atMs);
  switch (body.type) {
    case "AgentStart": {
      const parentLoopId = body.parentLoopId ?? place.parentLoopId;
      return {
        type: "AgentStart",
        agentId: place.agentId,
        ...omitUndefined({ agentName: place.agentName }),
        sessionId: place.sessionId,
        loopId,
        ...omitUndefined({ parentLoopId }),
        continuationKind: body.kind,
        ...omitUndefined({ configSnapshot: place.config }),
        timestamp,
        ...omitUndefined({ metadata: body.metadata }),
      };
    }
    case "AgentEnd": {
      const { type, usage, outcome, rejection, repairs } = body;
      const optional = omitUndefined({ rejection, repairs });
      return { type, loopId, messages: [...messages], usage, outcome, timestamp, ...optional };
    }
    case "TurnStart": {
      const { type, turn, trigger, textOnly } = body;
      const required = omitUndefined({ textOnly });
      return { type, loopId, turnIndex: turn, timestamp, triggeredBy: trigger, ...required };
    }
    case "TurnEnd": {
      const [message, ...rest] = messages;
      const toolResults = rest.filter((result): result is ToolResultMessage => result.role === "toolResult");
      const { type, turn, usage } = body;
      const content = isCompaction(message)
        ? buildMissingAnswer(loopId, atMs, turn)
        : toAssistantMessage(message);
      return { type, loopId, turnIndex: turn, message: content, usage, timestamp, toolResults };
    }
    case "MessageStart":
    case "MessageEnd": {
      const [message] = messages;
      const content = isCompaction(message) ? buildMissingAnswer(loopId, atMs) : toModelMessage(message);
      return { type: body.type, loopId, message: content };
    }
    case "ToolExecutionStart": {
      const { type, toolCallId, toolName } = body;
      const asked = toAssistantMessage(messages[0]).content.find(
        (part) => part.type === "toolCall" && part.id === toolCallId,
      );
      const args = asked?.type === "toolCall" ? asked.arguments : undefined;
      return { type, loopId, toolCallId, toolName, args };
    }
    case "ToolExecutionEnd": {
      const { type, toolCallId, toolName, isError, childLoopId } = body;
      const child = omitUndefined({ childLoopId });
      return { type, loopId, toolCallId, toolName, result: toToolOutput(messages[0]), isError, ...child };
    }
    case "PrunApplied": {
      const { type, pruned, tokensRemoved, messagesRemoved, memo } = body;
      const from = pruned[0]?.from ?? 0;
      const prunedTimestamps = pruned
        .flatMap((range) => messages.slice(range.from - from, range.to - from))
        .flatMap((message) => (message.role === "user" ? [] : [message.timestamp ?? 0]));
      const content = memo === undefined ? undefined : formatMemo(messages[memo.position - from], memo);
      const memoFields = omitUndefined({ memo: content });
      return { type, loopId, prunedTimestamps, tokensRemoved, messagesRemoved, ...memoFields };
    }
    case "InputRejected":
      return { type: body.type, loopId, reason: body.reason };
    case "ProgressMessage":
    case "RevertApplied":
      return { ...body, loopId };
    case "CompactionStarted":
    case "MessageRejected":
      return { ...body, loopId, timestamp };
    case "CompactionEnded": {
      const { position: _, ...sizes } = body;
      return { ...sizes, loopId, timestamp };
    }
    case "ModelFallback": {
      const { turn, ...fields } = body;
      return { ...fields, turnIndex: turn, loopId, timestamp };
    }
    case "DefinitionChanged": {
      const { terms: _, ...fields } = body;
      return { ...fields, loopId, timestamp };
    }
    default:
      return assertNever(body);
  }
}

function isCompaction(message: AgentMessage | undefined): boolean {
  return message?.role === "extension" && message.kind === COMPACTION_KIND;
}

/**
 * Builds an answer that is missing where the record has the compaction before it: the worker was lost after it had
 * stored the compaction, and the run ended before the machine received the result.
 */
function buildMissingAnswer(loopId: string, atMs: number, turn?: number): AssistantMessage {
  const missing = buildNoAnswer("aborted", "The run ended during a compaction", atMs);
  return turn === undefined ? missing : { ...missing, turnId: { loopId, turnIndex: turn } };
}

function toAssistantMessage(message: AgentMessage | undefined): AssistantMessage {
  if (message?.role === "assistant") return message;
  throw new ProtocolError(`An event names an answer where the record has ${message?.role ?? "nothing"}`);
}

function toModelMessage(message: AgentMessage | undefined): Message {
  if (message !== undefined && message.role !== "extension") return message;
  throw new ProtocolError(`An event names a message where the record has ${message?.role ?? "nothing"}`);
}

function toToolOutput(message: AgentMessage | undefined) {
  if (message?.role !== "toolResult")
    throw new ProtocolError(`An event names a result where the record has ${message?.role ?? "nothing"}`);
  const { content, details } = message;
  return { content, ...omitUndefined({ details }) };
}
