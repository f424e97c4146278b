import { z } from "zod";
import { AgentEvent, ConfigSnapshot } from "./agent-event.ts";
import { agentId, loopId, parentLoopId, sessionId, toolCallId, toolName } from "./common-fields.ts";
import { AgentMessage, AssistantMessage, ToolResultMessage, TurnId, Usage } from "./message.ts";
import { ContinuationKind, Outcome, TurnTrigger } from "./record.ts";

// A complete session in the format of the sources (SES-01 to SES-13): every loop with its messages, turns and events, and
// their relations.

const timestamp = z.iso.datetime();

/** How a session began (SES-13). */
const RecordedOrigin = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("first_loop"),
    timestamp: timestamp.describe("When the session began. RFC 3339, UTC."),
  }),
  z.object({
    type: z.literal("inactivity_timeout"),
    thresholdSecs: z.number().nonnegative().describe("The pause that made a new session, in seconds."),
    previousSessionId: z.string().describe("The session before it."),
    timestamp: timestamp.describe("When the session began. RFC 3339, UTC."),
  }),
  z.object({
    type: z.literal("explicit"),
    timestamp: timestamp.describe("When the session began. RFC 3339, UTC."),
  }),
]);

/** The call for which a sub-agent's session was created. */
const ParentSpawnRef = z.object({
  parentSessionId: z.string().describe("The session that made the call."),
  parentLoopId: z.string().describe("The loop that made the call."),
  toolCallId,
  toolName,
});

/** A sub-agent that a call of this loop has started. */
const ChildLoopRef = z.object({
  toolCallId,
  toolName,
  childLoopId: z.string().describe("The loop of the sub-agent."),
  childSessionId: z.string().describe("The session of the sub-agent."),
});

/** The group of an evaluation, on each of its branches (SES-12). */
export const ParallelGroupRecord = z.object({
  allLoopIds: z
    .array(z.string())
    .describe("The loops of all branches, in the order of their configurations."),
  selectedLoopId: z.string().describe("The loop of the chosen branch."),
  selectedConfigIndex: z
    .number()
    .int()
    .nonnegative()
    .describe("The index of the chosen configuration, from 0."),
  evaluationUsage: Usage.describe("The tokens of the choice alone."),
  isSelected: z.boolean().describe("True for exactly one branch."),
});
export type ParallelGroupRecord = z.infer<typeof ParallelGroupRecord>;

/** Turns of a loop, both ends included. */
const TurnSpan = z.object({
  startTurn: z.number().int().nonnegative().describe("The first turn, from 0."),
  endTurn: z.number().int().nonnegative().describe("The last turn."),
});
const CompactedSection = z.object({
  range: TurnSpan.describe("The turns that it stands for."),
  messages: z.array(AgentMessage).describe("What the model sees in their place."),
});

/** What a compaction shows in place of a loop's messages; the messages stay unchanged (PER-03). */
export const CompactionBlock = z.object({
  keepFirst: TurnSpan.optional().describe("The turns at the beginning that stay unchanged."),
  keepCompacted: CompactedSection.optional().describe("The turns in the middle, which are summarised."),
  keepRecent: CompactedSection.optional().describe("The newest turns, with their tool outputs cut."),
  createdAt: timestamp.describe("RFC 3339, UTC."),
});
export type CompactionBlock = z.infer<typeof CompactionBlock>;

/** One answer and its input, built from a pair of events (SES-05). */
export const RecordedTurn = z.object({
  turnId: TurnId.describe("The loop, and the turn in it."),
  triggeredBy: TurnTrigger.describe("Why the turn began."),
  usage: Usage.describe("The usage of the turn."),
  inputMessages: z.array(AgentMessage).describe("The messages that joined the conversation with the turn."),
  outputMessage: AssistantMessage.describe("The answer."),
  toolResults: z
    .array(ToolResultMessage)
    .describe("The results of the answer's calls, in the order of the calls."),
  startedAt: timestamp.describe("RFC 3339, UTC."),
  endedAt: timestamp.describe("RFC 3339, UTC."),
});
export type RecordedTurn = z.infer<typeof RecordedTurn>;

const RecordedStatus = z.enum(["pending", "running", "completed", "rejected", "aborted"]);

/** Numbers have gaps where events were omitted. Events of other programs are preserved unchanged. */
const RecordedEvent = z.object({
  sequence: z.number().int().nonnegative().describe("The number of the event in its loop, from 0."),
  event: z.union([AgentEvent, z.looseObject({ type: z.string().optional() })]).describe("What happened."),
});

/** A loop with its events, messages and turns. */
export const RecordedLoop = z.object({
  loopId,
  sessionId,
  agentId,
  parentLoopId,
  continuationKind: ContinuationKind.describe("How the loop began."),
  startedAt: timestamp.describe("RFC 3339, UTC."),
  endedAt: timestamp.optional().describe("When it ended: RFC 3339, UTC; absent while the loop runs."),
  status: RecordedStatus.describe("Whether the loop runs, or how it ended."),
  rejection: z.string().optional().describe("Why the loop's prompt was rejected."),
  config: ConfigSnapshot.partial({ definitionHash: true })
    .optional()
    .describe("The configuration with which the loop called its model."),
  messages: z.array(AgentMessage).describe("The messages that the loop has added."),
  turns: z.array(RecordedTurn).describe("The turns, in order."),
  usage: Usage.describe("The usage of all turns."),
  metadata: z.unknown().optional().describe("Metadata of the loop, preserved unchanged."),
  events: z
    .array(RecordedEvent)
    .describe(
      "The events, in order. Pieces of streamed answers are among them only if the recorder includes them.",
    ),
  childrenLoopIds: z
    .array(z.string())
    .describe("The loops of the same session that follow it, in order of their ends."),
  childLoopRefs: z.array(ChildLoopRef).describe("The sub-agents that calls of this loop have started."),
  compactionBlock: CompactionBlock.optional().describe("What a compaction shows in place of its messages."),
  parallelGroup: ParallelGroupRecord.optional().describe("The evaluation that the loop is a branch of."),
  outcome: Outcome.optional().describe("How the loop ended; absent while it runs."),
  costUsd: z
    .number()
    .nullable()
    .optional()
    .describe("The cost of all its answers; `null` when the price of any is unknown."),
});
export type RecordedLoop = z.infer<typeof RecordedLoop>;

/** A session in the portable form that other programs read, too. */
export const RecordedSession = z.object({
  sessionId,
  agentId,
  formation: RecordedOrigin.describe("How the session began."),
  scope: z
    .enum(["ephemeral", "persistent"])
    .describe("Whether retention policies may delete it; `persistent` sessions stay."),
  createdAt: timestamp.describe("RFC 3339, UTC."),
  lastActiveAt: timestamp.describe("RFC 3339, UTC."),
  parentSpawnRef: ParentSpawnRef.optional().describe(
    "The call that started the session, for one of a sub-agent.",
  ),
  taskName: z.string().optional().describe("The name of the task, in other programs' sessions."),
  taskStatus: z.string().optional().describe("The status of the task, in other programs' sessions."),
  loops: z.array(RecordedLoop).describe("The loops, in order of their starts."),
});
export type RecordedSession = z.infer<typeof RecordedSession>;
