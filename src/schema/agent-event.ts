import { z } from "zod";
import { DefinitionUpdated } from "./definition-change.ts";
import { fallbackPurpose, ModelFallback, RejectedMessage, Revert } from "./loop-event.ts";
import {
  AgentMessage,
  AssistantMessage,
  Content,
  Message,
  MessageMetadata,
  ToolResultMessage,
  Usage,
} from "./message.ts";
import { ContinuationKind, Outcome, TurnTrigger } from "./record.ts";

// Complete events of a session: each one names its location and contains the messages that it is
// about. The record refers to these by position instead (see record.ts).

/** A piece of an answer. A piece of a call is a piece of JSON, which can be parsed when the message has ended. */
export const StreamDelta = z.object({
  type: z.enum(["text", "thinking", "toolCall"]),
  /** The piece, to be appended to the earlier ones. */
  delta: z.string(),
  /** The part of the message's content that the piece extends. Absent in saved events of other programs. */
  index: z.number().int().nonnegative().optional(),
});
export type StreamDelta = z.infer<typeof StreamDelta>;

/** The configuration with which a loop calls its model. It names secrets but contains none. */
export const ConfigSnapshot = z.object({
  definitionHash: z.string(),
  /** The vendor's name for the model. */
  model: z.string(),
  /** The vendor. */
  provider: z.string().optional(),
  /** The `configId` of the definition. */
  configId: z.string().optional(),
  /** The display name of the model. */
  name: z.string().optional(),
  /** The protocol. */
  api: z.string().optional(),
  /** The address of the vendor's API. */
  baseUrl: z.string().optional(),
  /** Whether the model can think before it answers. */
  reasoning: z.boolean().optional(),
  /** Tokens. */
  contextWindow: z.number().int().optional(),
  /** The maximum of one answer. */
  maxTokens: z.number().int().optional(),
  /** The thinking level. */
  thinking: z.string().optional(),
  /** The sampling temperature; the vendor's default if absent. */
  temperature: z.number().optional(),
});
export type ConfigSnapshot = z.infer<typeof ConfigSnapshot>;

const loopId = z.string();
/** RFC 3339, UTC. Messages have Unix milliseconds instead. */
const timestamp = z.iso.datetime();
const call = { loopId, toolCallId: z.string(), toolName: z.string() };
const ToolOutput = z.object({
  /** The content for the model. */
  content: z.array(Content),
  /** Data for users and programs, never sent to a model. */
  details: z.unknown().optional(),
});

/** Every kind except the two of parallel evaluation names its loop. Errors have no kind: a message reports them. */
export const AgentEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("AgentStart"),
    /** A UUID that belongs to the agent permanently: its record and its checkpoints have the same one (ID-01). */
    agentId: z.string(),
    /** The display name of the agent. Absent in older records. */
    agentName: z.string().optional(),
    sessionId: z.string(),
    loopId,
    parentLoopId: z.string().optional(),
    /** Absent or null in old records, whose loops had a prompt. */
    continuationKind: z.preprocess((kind) => kind ?? { type: "initial" }, ContinuationKind),
    configSnapshot: ConfigSnapshot.optional(),
    timestamp,
    /** The metadata of the prompt that began the loop. */
    metadata: MessageMetadata.optional(),
  }),
  z.object({
    type: z.literal("AgentEnd"),
    loopId,
    /** Every message that the loop has added. */
    messages: z.array(AgentMessage),
    /** The usage of all turns. */
    usage: Usage,
    outcome: Outcome.optional(),
    timestamp,
    /** Why a filter rejected the prompt. */
    rejection: z.string().optional(),
    /** What was repaired in the structured output; absent for nothing. */
    repairs: z.array(z.string()).optional(),
  }),
  z.object({
    type: z.literal("TurnStart"),
    loopId,
    turnIndex: z.number().int().nonnegative(),
    timestamp,
    /** What the turn answers. */
    triggeredBy: TurnTrigger,
    /** A hook requires an answer without calls. */
    textOnly: z.literal(true).optional(),
  }),
  z.object({
    type: z.literal("TurnEnd"),
    loopId,
    turnIndex: z.number().int().nonnegative(),
    /** The answer of the turn. */
    message: AssistantMessage,
    /** The usage of this turn. */
    usage: Usage,
    timestamp,
    /** The results of the answer's calls, in the order of the calls. */
    toolResults: z.array(ToolResultMessage),
  }),
  z.object({
    type: z.literal("MessageStart"),
    loopId,
    /** The message; of an answer that is still being written, what exists of it. */
    message: Message,
  }),
  z.object({
    type: z.literal("MessageUpdate"),
    loopId,
    /** The part of the answer that has arrived; the arguments of calls are text until it has ended. */
    message: AssistantMessage,
    /** What was added to the message. */
    delta: StreamDelta,
  }),
  z.object({
    type: z.literal("MessageEnd"),
    loopId,
    /** The whole message. */
    message: Message,
  }),
  z.object({
    type: z.literal("ToolExecutionStart"),
    ...call,
    /** The arguments, as the model sent them. */
    args: z.unknown(),
  }),
  z.object({
    type: z.literal("ToolExecutionUpdate"),
    ...call,
    /** What the call has returned so far. */
    partialResult: ToolOutput,
  }),
  z.object({
    type: z.literal("ToolExecutionEnd"),
    ...call,
    /** What the call returned. */
    result: ToolOutput,
    /** Whether the call failed, could not run, or was denied. */
    isError: z.boolean(),
    childLoopId: z.string().optional(),
  }),
  z.object({
    type: z.literal("ProgressMessage"),
    ...call,
    /** One line. */
    text: z.string(),
  }),
  z.object({
    type: z.literal("InputRejected"),
    loopId,
    /** Why the message was rejected. */
    reason: z.string(),
  }),
  z.object({
    type: z.literal("ParallelLoopStart"),
    sessionId: z.string(),
    /** In the order of the configurations. */
    loopIds: z.array(z.string()),
    timestamp,
  }),
  z.object({
    type: z.literal("ParallelLoopEnd"),
    sessionId: z.string(),
    /** Empty, and -1, when all branches are retained. */
    selectedLoopId: z.string(),
    /** The index of the chosen configuration, from 0. */
    selectedConfigIndex: z.number().int().min(-1),
    /** The usage of the choice alone. */
    evaluationUsage: Usage,
    timestamp,
  }),
  z.object({
    type: z.literal("CompactionStarted"),
    loopId,
    /** The estimated tokens of the view before the compaction. */
    estimatedTokens: z.number().int(),
    /** The number of messages of the view before the compaction. */
    messageCount: z.number().int(),
    timestamp,
  }),
  z.object({
    type: z.literal("CompactionEnded"),
    loopId,
    /** The number of messages of the view before. */
    messagesBefore: z.number().int(),
    /** The number of messages of the view after. */
    messagesAfter: z.number().int(),
    /** The estimated tokens of the view before. */
    estimatedTokensBefore: z.number().int(),
    /** The estimated tokens of the view after. */
    estimatedTokensAfter: z.number().int(),
    /** The number of loops whose messages were compacted. */
    loopsCompacted: z.number().int(),
    timestamp,
  }),
  z.object({
    type: z.literal("PrunApplied"),
    loopId,
    /** The timestamps, in Unix milliseconds, of the messages that left the view. */
    prunedTimestamps: z.array(z.number().int().nonnegative()),
    /** The estimated tokens that left the view. */
    tokensRemoved: z.number().int(),
    /** The number of messages that left the view. */
    messagesRemoved: z.number().int(),
    /** What the model has noted in place of the messages. */
    memo: z.string().optional(),
  }),
  /** The model requested to go back to an earlier entry (PHI-04). Positions are those of the branch that it left. */
  z.object({
    type: z.literal("RevertApplied"),
    loopId,
    ...Revert.shape,
  }),
  /** Another model gives the next answer, or a compaction's texts, because the models before it failed. */
  z.object({
    type: z.literal("ModelFallback"),
    loopId,
    turnIndex: z.number().int().nonnegative(),
    ...ModelFallback.shape,
    ...fallbackPurpose,
    timestamp,
  }),
  /** A message arrived while the queues were full, and was rejected. */
  z.object({ type: z.literal("MessageRejected"), loopId, ...RejectedMessage.shape, timestamp }),
  /** The agent was updated to another definition between turns, or the update was rejected. */
  z.object({
    type: z.literal("DefinitionChanged"),
    loopId,
    ...DefinitionUpdated.shape,
    timestamp,
  }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;
