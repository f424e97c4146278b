import { z } from "zod";
import { AgentEvent, ConfigSnapshot } from "./agent-event.ts";
import { AgentMessage, AssistantMessage, ToolResultMessage, TurnId, Usage } from "./message.ts";
import { ContinuationKind, Outcome, TurnTrigger } from "./record.ts";

// A complete session in the format of the sources (SES-01 to SES-13): every loop with its messages, turns and events, and
// their relations.

const timestamp = z.iso.datetime();

/** How a session began (SES-13). */
const RecordedOrigin = z.discriminatedUnion("type", [
  z.object({ type: z.literal("first_loop"), timestamp }),
  z.object({
    type: z.literal("inactivity_timeout"),
    thresholdSecs: z.number().nonnegative(),
    previousSessionId: z.string(),
    timestamp,
  }),
  z.object({ type: z.literal("explicit"), timestamp }),
]);

/** The call for which a sub-agent's session was created. */
const ParentSpawnRef = z.object({
  parentSessionId: z.string(),
  parentLoopId: z.string(),
  toolCallId: z.string(),
  toolName: z.string(),
});

/** A sub-agent that a call of this loop has started. */
const ChildLoopRef = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  childLoopId: z.string(),
  childSessionId: z.string(),
});

/** The group of an evaluation, on each of its branches (SES-12). */
export const ParallelGroupRecord = z.object({
  allLoopIds: z.array(z.string()),
  selectedLoopId: z.string(),
  selectedConfigIndex: z.number().int().nonnegative(),
  evaluationUsage: Usage,
  isSelected: z.boolean(),
});
export type ParallelGroupRecord = z.infer<typeof ParallelGroupRecord>;

/** Turns of a loop, both ends included. */
const TurnSpan = z.object({
  startTurn: z.number().int().nonnegative(),
  endTurn: z.number().int().nonnegative(),
});
const CompactedSection = z.object({ range: TurnSpan, messages: z.array(AgentMessage) });

/** What a compaction shows in place of a loop's messages; the messages stay unchanged (PER-03). */
export const CompactionBlock = z.object({
  keepFirst: TurnSpan.optional(),
  keepCompacted: CompactedSection.optional(),
  keepRecent: CompactedSection.optional(),
  createdAt: timestamp,
});
export type CompactionBlock = z.infer<typeof CompactionBlock>;

/** One answer and its input, built from a pair of events (SES-05). */
export const RecordedTurn = z.object({
  turnId: TurnId,
  triggeredBy: TurnTrigger,
  usage: Usage,
  inputMessages: z.array(AgentMessage),
  outputMessage: AssistantMessage,
  toolResults: z.array(ToolResultMessage),
  startedAt: timestamp,
  endedAt: timestamp,
});
export type RecordedTurn = z.infer<typeof RecordedTurn>;

const RecordedStatus = z.enum(["pending", "running", "completed", "rejected", "aborted"]);

/** Numbers have gaps where events were omitted. Events of other programs are preserved unchanged. */
const RecordedEvent = z.object({
  sequence: z.number().int().nonnegative(),
  event: z.union([AgentEvent, z.looseObject({ type: z.string().optional() })]),
});

export const RecordedLoop = z.object({
  loopId: z.string(),
  sessionId: z.string(),
  agentId: z.string(),
  parentLoopId: z.string().optional(),
  continuationKind: ContinuationKind,
  startedAt: timestamp,
  endedAt: timestamp.optional(),
  status: RecordedStatus,
  rejection: z.string().optional(),
  config: ConfigSnapshot.partial({ definitionHash: true }).optional(),
  /** From AgentEnd alone (SES-06). */
  messages: z.array(AgentMessage),
  turns: z.array(RecordedTurn),
  usage: Usage,
  metadata: z.unknown().optional(),
  events: z.array(RecordedEvent),
  /** Loops of the same session, in order of their ends. */
  childrenLoopIds: z.array(z.string()),
  childLoopRefs: z.array(ChildLoopRef),
  compactionBlock: CompactionBlock.optional(),
  parallelGroup: ParallelGroupRecord.optional(),
  outcome: Outcome.optional(),
  /** The cost of all its answers; `null` when the price of any is unknown. */
  costUsd: z.number().nullable().optional(),
});
export type RecordedLoop = z.infer<typeof RecordedLoop>;

export const RecordedSession = z.object({
  sessionId: z.string(),
  agentId: z.string(),
  formation: RecordedOrigin,
  scope: z.enum(["ephemeral", "persistent"]),
  createdAt: timestamp,
  lastActiveAt: timestamp,
  parentSpawnRef: ParentSpawnRef.optional(),
  taskName: z.string().optional(),
  taskStatus: z.string().optional(),
  /** In order of start. */
  loops: z.array(RecordedLoop),
});
export type RecordedSession = z.infer<typeof RecordedSession>;
