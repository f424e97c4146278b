import { z } from "zod";
import { AgentEvent, ConfigSnapshot } from "./agent-event.ts";
import { AgentMessage, AssistantMessage, ToolResultMessage, TurnId, Usage } from "./message.ts";
import { ContinuationKind, Outcome, TurnTrigger } from "./record.ts";

// A complete session in the format of the sources (SES-01 to SES-13): every loop with its messages, turns and events, and
// their relations.

const timestamp = z.iso.datetime();

/** How a session began (SES-13). */
const RecordedOrigin = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("first_loop"),
    /** When the session began. RFC 3339, UTC. */
    timestamp,
  }),
  z.object({
    type: z.literal("inactivity_timeout"),
    /** The pause that made a new session, in seconds. */
    thresholdSecs: z.number().nonnegative(),
    /** The session before it. */
    previousSessionId: z.string(),
    /** When the session began. RFC 3339, UTC. */
    timestamp,
  }),
  z.object({
    type: z.literal("explicit"),
    /** When the session began. RFC 3339, UTC. */
    timestamp,
  }),
]);

/** The call for which a sub-agent's session was created. */
const ParentSpawnRef = z.object({
  /** The session that made the call. */
  parentSessionId: z.string(),
  /** The loop that made the call. */
  parentLoopId: z.string(),
  toolCallId: z.string(),
  toolName: z.string(),
});

/** A sub-agent that a call of this loop has started. */
const ChildLoopRef = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  childLoopId: z.string(),
  /** The session of the sub-agent. */
  childSessionId: z.string(),
});

/** The group of an evaluation, on each of its branches (SES-12). */
export const ParallelGroupRecord = z.object({
  /** The loops of all branches, in the order of their configurations. */
  allLoopIds: z.array(z.string()),
  /** The loop of the chosen branch. */
  selectedLoopId: z.string(),
  /** The index of the chosen configuration, from 0. */
  selectedConfigIndex: z.number().int().nonnegative(),
  /** The tokens of the choice alone. */
  evaluationUsage: Usage,
  /** True for exactly one branch. */
  isSelected: z.boolean(),
});
export type ParallelGroupRecord = z.infer<typeof ParallelGroupRecord>;

/** Turns of a loop, both ends included. */
const TurnSpan = z.object({
  /** The first turn, from 0. */
  startTurn: z.number().int().nonnegative(),
  /** The last turn. */
  endTurn: z.number().int().nonnegative(),
});
const CompactedSection = z.object({
  /** The turns that it stands for. */
  range: TurnSpan,
  /** What the model sees in their place. */
  messages: z.array(AgentMessage),
});

/** What a compaction shows in place of a loop's messages; the messages stay unchanged (PER-03). */
export const CompactionBlock = z.object({
  /** The turns at the beginning that stay unchanged. */
  keepFirst: TurnSpan.optional(),
  /** The turns in the middle, which are summarised. */
  keepCompacted: CompactedSection.optional(),
  /** The newest turns, with their tool outputs cut. */
  keepRecent: CompactedSection.optional(),
  /** RFC 3339, UTC. */
  createdAt: timestamp,
});
export type CompactionBlock = z.infer<typeof CompactionBlock>;

/** One answer and its input, built from a pair of events (SES-05). */
export const RecordedTurn = z.object({
  turnId: TurnId,
  /** Why the turn began. */
  triggeredBy: TurnTrigger,
  usage: Usage,
  /** The messages that joined the conversation with the turn. */
  inputMessages: z.array(AgentMessage),
  /** The answer. */
  outputMessage: AssistantMessage,
  /** The results of the answer's calls, in the order of the calls. */
  toolResults: z.array(ToolResultMessage),
  /** RFC 3339, UTC. */
  startedAt: timestamp,
  /** RFC 3339, UTC. */
  endedAt: timestamp,
});
export type RecordedTurn = z.infer<typeof RecordedTurn>;

const RecordedStatus = z.enum(["pending", "running", "completed", "rejected", "aborted"]);

/** Numbers have gaps where events were omitted. Events of other programs are preserved unchanged. */
const RecordedEvent = z.object({
  /** The number of the event in its loop, from 0. */
  sequence: z.number().int().nonnegative(),
  /** What happened. */
  event: z.union([AgentEvent, z.looseObject({ type: z.string().optional() })]),
});

/** A loop with its events, messages and turns. */
export const RecordedLoop = z.object({
  loopId: z.string(),
  sessionId: z.string(),
  agentId: z.string(),
  parentLoopId: z.string().optional(),
  continuationKind: ContinuationKind,
  /** RFC 3339, UTC. */
  startedAt: timestamp,
  /** RFC 3339, UTC; absent while the loop runs. */
  endedAt: timestamp.optional(),
  /** Whether the loop runs, or how it ended. */
  status: RecordedStatus,
  /** Why the loop's prompt was rejected. */
  rejection: z.string().optional(),
  /** The configuration with which the loop called its model. */
  config: ConfigSnapshot.partial({ definitionHash: true }).optional(),
  /** From AgentEnd alone (SES-06). */
  messages: z.array(AgentMessage),
  /** The turns, in order. */
  turns: z.array(RecordedTurn),
  usage: Usage,
  /** Metadata of the loop, preserved unchanged. */
  metadata: z.unknown().optional(),
  /** The events, in order. Pieces of streamed answers are among them only if the recorder includes them. */
  events: z.array(RecordedEvent),
  /** Loops of the same session, in order of their ends. */
  childrenLoopIds: z.array(z.string()),
  /** The sub-agents that calls of this loop have started. */
  childLoopRefs: z.array(ChildLoopRef),
  compactionBlock: CompactionBlock.optional(),
  /** The evaluation that the loop is a branch of. */
  parallelGroup: ParallelGroupRecord.optional(),
  outcome: Outcome.optional(),
  /** The cost of all its answers; `null` when the price of any is unknown. */
  costUsd: z.number().nullable().optional(),
});
export type RecordedLoop = z.infer<typeof RecordedLoop>;

/** A session in the portable form that other programs read, too. */
export const RecordedSession = z.object({
  sessionId: z.string(),
  agentId: z.string(),
  /** How the session began. */
  formation: RecordedOrigin,
  /** Whether retention policies may delete it; `persistent` sessions stay. */
  scope: z.enum(["ephemeral", "persistent"]),
  /** RFC 3339, UTC. */
  createdAt: timestamp,
  /** RFC 3339, UTC. */
  lastActiveAt: timestamp,
  /** The call that started the session, for one of a sub-agent. */
  parentSpawnRef: ParentSpawnRef.optional(),
  /** The name of the task, in other programs' sessions. */
  taskName: z.string().optional(),
  /** The status of the task, in other programs' sessions. */
  taskStatus: z.string().optional(),
  /** In order of start. */
  loops: z.array(RecordedLoop),
});
export type RecordedSession = z.infer<typeof RecordedSession>;
