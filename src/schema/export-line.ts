import { z } from "zod";
import { AgentDefinition } from "./definition.ts";
import { Grants } from "./grant.ts";
import { Content, MessageMetadata, Usage } from "./message.ts";
import {
  ContinuationKind,
  EntryOrigin,
  LoopStatus,
  Outcome,
  SessionOrigin,
  SessionTitle,
  SpawnRef,
} from "./record.ts";
import { ViewSnapshot } from "./view-snapshot.ts";

// A session as a file: one JSON object a line. docs/export.md describes each line; a change requires a new version.

/** The version that this release writes, and the only one that it reads: version 1 was never released. */
export const EXPORT_VERSION = 2;

const id = z.string().min(1);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().nonnegative();
const atMs = z.number();

/** The first line. */
export const HeaderLine = z.object({
  type: z.literal("holdfast-export"),
  version: z.number().int().positive(),
  exportedAt: z.iso.datetime(),
  /** The first one is the requested session; the others are sessions of agents below it. */
  sessions: z.array(id).min(1),
});
export type HeaderLine = z.infer<typeof HeaderLine>;

export const SessionLine = z.object({
  type: z.literal("session"),
  id,
  agentName: z.string(),
  definitionHash: z.string(),
  model: z.string(),
  createdAtMs: atMs,
  lastActiveAtMs: atMs,
  headBranch: id,
  lastLoopId: z.string().optional(),
  status: LoopStatus,
  spawn: SpawnRef.optional(),
  grants: Grants.optional(),
  scope: z.literal("persistent").optional(),
  agentId: z.string().optional(),
  origin: SessionOrigin.optional(),
  title: SessionTitle.optional(),
});
export type SessionLine = z.infer<typeof SessionLine>;

export const LoopLine = z.object({
  type: z.literal("loop"),
  session: id,
  loopId: id,
  segment: z.string(),
  number: count,
  parentLoopId: z.string().optional(),
  kind: ContinuationKind,
  definitionHash: z.string(),
  model: z.string(),
  branch: id,
  from: count,
  status: LoopStatus,
  startedAtMs: atMs,
  endedAtMs: atMs.optional(),
  outcome: Outcome.optional(),
  usage: Usage.optional(),
  /** `null`: unknown. */
  costUsd: z.number().nullable().optional(),
  turns: count.optional(),
  /** Where it has ended, and what it has left of the view; without a view, all of it. */
  end: z.object({ branch: id, position: count, view: ViewSnapshot.optional() }).optional(),
  grants: Grants.optional(),
  evaluation: z.string().optional(),
  /** The number of its events that follow. */
  events: count,
});
export type LoopLine = z.infer<typeof LoopLine>;

export const BranchLine = z.object({
  type: z.literal("branch"),
  session: id,
  id,
  parent: z.object({ branch: id, position: count }).optional(),
  /** For a branch without a parent: the entries before this position belonged to another session, which was deleted. */
  position: count.optional(),
  /** The run that a conflict moved to this branch. */
  run: z.string().optional(),
  /** Present when a user has requested the branch. */
  requestedAtMs: atMs.optional(),
  /** For a branch that began in another session: what was left of the view before its position. */
  inheritedView: ViewSnapshot.optional(),
  /** The position after its last entry, including the entries of its ancestors. */
  length: count,
});
export type BranchLine = z.infer<typeof BranchLine>;

export const EvaluationLine = z.object({
  type: z.literal("evaluation"),
  session: id,
  id,
  opened: z.unknown(),
  startedAtMs: atMs,
  warning: z.string().optional(),
  closed: z.unknown().optional(),
  endedAtMs: atMs.optional(),
});
export type EvaluationLine = z.infer<typeof EvaluationLine>;

/** A definition that a session or a loop names; before the first entry. */
export const DefinitionLine = z.object({
  type: z.literal("definition"),
  hash,
  definition: AgentDefinition.loose(),
});
export type DefinitionLine = z.infer<typeof DefinitionLine>;

/** A long text; before the first line that refers to it. */
export const ContentLine = z.object({ type: z.literal("content"), hash, text: z.string() });
export type ContentLine = z.infer<typeof ContentLine>;

/** A message at its position: the message itself, or the hash of the content that is its JSON. */
export const EntryLine = z.object({
  type: z.literal("entry"),
  session: id,
  branch: id,
  position: count,
  run: z.string(),
  origin: EntryOrigin,
  messageId: z.string().optional(),
  tokens: count,
  message: z.unknown().optional(),
  content: hash.optional(),
});
export type EntryLine = z.infer<typeof EntryLine>;

export const EventLine = z.object({
  type: z.literal("event"),
  loopId: id,
  run: z.string(),
  sequence: count,
  atMs,
  body: z.looseObject({ type: z.string() }),
});
export type EventLine = z.infer<typeof EventLine>;

/** A step that has its result: what later readers of the record need of it. */
export const StepLine = z.object({
  type: z.literal("step"),
  session: id,
  run: z.string(),
  number: z.number().int(),
  /** Negative for steps that accompany a call. */
  call: z.number().int(),
  loopId: z.string().optional(),
  kind: z.string(),
  generation: count,
  executions: count,
  startedAtMs: atMs,
  storedAtMs: atMs,
  branch: z.string().optional(),
  note: z.string().optional(),
  result: z.unknown(),
});
export type StepLine = z.infer<typeof StepLine>;

/** A message that waits for the session's next loop. */
export const InboxLine = z.object({
  type: z.literal("inbox"),
  session: id,
  id: z.string(),
  atMs,
  text: z.string(),
  /** The parts of a message that has others than text; `text` has their text. */
  content: z.array(Content).optional(),
  metadata: MessageMetadata.optional(),
});
export type InboxLine = z.infer<typeof InboxLine>;

/** The last line: the number of lines before it, and the SHA-256 of all their bytes. */
export const EndLine = z.object({ type: z.literal("end"), lines: count, sha256: hash });
export type EndLine = z.infer<typeof EndLine>;

/** The lines between the first and the last. */
export const BodyLine = z.discriminatedUnion("type", [
  SessionLine,
  LoopLine,
  BranchLine,
  EvaluationLine,
  DefinitionLine,
  ContentLine,
  EntryLine,
  EventLine,
  StepLine,
  InboxLine,
]);
export type BodyLine = z.infer<typeof BodyLine>;
