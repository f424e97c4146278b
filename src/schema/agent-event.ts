import { z } from "zod";
import {
  childLoopId,
  definitionHash,
  loopId,
  parentLoopId,
  sessionId,
  toolCallId,
  toolName,
  turnIndex,
} from "./common-fields.ts";
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
  type: z.enum(["text", "thinking", "toolCall"]).describe("The kind of the part that the piece extends."),
  delta: z.string().describe("The piece, to be appended to the earlier ones."),
  index: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe(
      "The part of the message's content that the piece extends. Absent in saved events of other programs.",
    ),
});
export type StreamDelta = z.infer<typeof StreamDelta>;

/** The configuration with which a loop calls its model. It names secrets but contains none. */
export const ConfigSnapshot = z.object({
  definitionHash,
  model: z.string().describe("The vendor's name for the model."),
  provider: z.string().optional().describe("The vendor."),
  configId: z.string().optional().describe("The `configId` of the definition."),
  name: z.string().optional().describe("The display name of the model."),
  api: z.string().optional().describe("The protocol."),
  baseUrl: z.string().optional().describe("The address of the vendor's API."),
  reasoning: z.boolean().optional().describe("Whether the model can think before it answers."),
  contextWindow: z.number().int().optional().describe("The model's context window, in tokens."),
  maxTokens: z.number().int().optional().describe("The maximum tokens of one answer."),
  thinking: z.string().optional().describe("The thinking level."),
  temperature: z.number().optional().describe("The sampling temperature; the vendor's default if absent."),
});
export type ConfigSnapshot = z.infer<typeof ConfigSnapshot>;

/** RFC 3339, UTC. Messages have Unix milliseconds instead. */
const timestamp = z.iso.datetime().describe("When it happened: RFC 3339, UTC.");
const call = { loopId, toolCallId, toolName };
const ToolOutput = z.object({
  content: z.array(Content).describe("The content for the model."),
  details: z.unknown().optional().describe("Data for users and programs, never sent to a model."),
});

/** Every kind except the two of parallel evaluation names its loop. Errors have no kind: a message reports them. */
export const AgentEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("AgentStart"),
    agentId: z
      .string()
      .describe(
        "A UUID that belongs to the agent permanently: its record and its checkpoints have the same one.",
      ),
    agentName: z.string().optional().describe("The display name of the agent. Absent in older records."),
    sessionId,
    loopId,
    parentLoopId,
    continuationKind: z
      .preprocess((kind) => kind ?? { type: "initial" }, ContinuationKind)
      .describe("How the loop began. Absent or null in old records, whose loops had a prompt."),
    configSnapshot: ConfigSnapshot.optional().describe(
      "The configuration with which the loop calls its model.",
    ),
    timestamp,
    metadata: MessageMetadata.optional().describe("The metadata of the prompt that began the loop."),
  }),
  z.object({
    type: z.literal("AgentEnd"),
    loopId,
    messages: z.array(AgentMessage).describe("Every message that the loop has added."),
    usage: Usage.describe("The usage of all turns."),
    outcome: Outcome.optional().describe("How the loop ended."),
    timestamp,
    rejection: z.string().optional().describe("Why a filter rejected the prompt."),
    repairs: z
      .array(z.string())
      .optional()
      .describe("What was repaired in the structured output; absent for nothing."),
  }),
  z.object({
    type: z.literal("TurnStart"),
    loopId,
    turnIndex,
    timestamp,
    triggeredBy: TurnTrigger.describe("What the turn answers."),
    textOnly: z.literal(true).optional().describe("Present if a hook requires an answer without calls."),
  }),
  z.object({
    type: z.literal("TurnEnd"),
    loopId,
    turnIndex,
    message: AssistantMessage.describe("The answer of the turn."),
    usage: Usage.describe("The usage of this turn."),
    timestamp,
    toolResults: z
      .array(ToolResultMessage)
      .describe("The results of the answer's calls, in the order of the calls."),
  }),
  z.object({
    type: z.literal("MessageStart"),
    loopId,
    message: Message.describe("The message; of an answer that is still being written, what exists of it."),
  }),
  z.object({
    type: z.literal("MessageUpdate"),
    loopId,
    message: AssistantMessage.describe(
      "The part of the answer that has arrived; the arguments of calls are text until it has ended.",
    ),
    delta: StreamDelta.describe("What was added to the message."),
  }),
  z.object({
    type: z.literal("MessageEnd"),
    loopId,
    message: Message.describe("The whole message."),
  }),
  z.object({
    type: z.literal("ToolExecutionStart"),
    ...call,
    args: z.unknown().describe("The arguments, as the model sent them."),
  }),
  z.object({
    type: z.literal("ToolExecutionUpdate"),
    ...call,
    partialResult: ToolOutput.describe("What the call has returned so far."),
  }),
  z.object({
    type: z.literal("ToolExecutionEnd"),
    ...call,
    result: ToolOutput.describe("What the call returned."),
    isError: z.boolean().describe("Whether the call failed, could not run, or was denied."),
    childLoopId,
  }),
  z.object({
    type: z.literal("ProgressMessage"),
    ...call,
    text: z.string().describe("The progress, on one line."),
  }),
  z.object({
    type: z.literal("InputRejected"),
    loopId,
    reason: z.string().describe("Why the message was rejected."),
  }),
  z.object({
    type: z.literal("ParallelLoopStart"),
    sessionId,
    loopIds: z.array(z.string()).describe("The loops of the branches, in the order of the configurations."),
    timestamp,
  }),
  z.object({
    type: z.literal("ParallelLoopEnd"),
    sessionId,
    selectedLoopId: z
      .string()
      .describe("The loop of the chosen branch; empty when all branches are retained."),
    selectedConfigIndex: z
      .number()
      .int()
      .min(-1)
      .describe("The index of the chosen configuration, from 0; -1 when all branches are retained."),
    evaluationUsage: Usage.describe("The usage of the choice alone."),
    timestamp,
  }),
  z.object({
    type: z.literal("CompactionStarted"),
    loopId,
    estimatedTokens: z.number().int().describe("The estimated tokens of the view before the compaction."),
    messageCount: z.number().int().describe("The number of messages of the view before the compaction."),
    timestamp,
  }),
  z.object({
    type: z.literal("CompactionEnded"),
    loopId,
    messagesBefore: z.number().int().describe("The number of messages of the view before."),
    messagesAfter: z.number().int().describe("The number of messages of the view after."),
    estimatedTokensBefore: z.number().int().describe("The estimated tokens of the view before."),
    estimatedTokensAfter: z.number().int().describe("The estimated tokens of the view after."),
    loopsCompacted: z.number().int().describe("The number of loops whose messages were compacted."),
    timestamp,
  }),
  z.object({
    type: z.literal("PrunApplied"),
    loopId,
    prunedTimestamps: z
      .array(z.number().int().nonnegative())
      .describe("The timestamps, in Unix milliseconds, of the messages that left the view."),
    tokensRemoved: z.number().int().describe("The estimated tokens that left the view."),
    messagesRemoved: z.number().int().describe("The number of messages that left the view."),
    memo: z.string().optional().describe("What the model has noted in place of the messages."),
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
    turnIndex,
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
