import type { AgentDefinition } from "../../schema/definition.ts";
import type { LoopEvent } from "../../schema/loop-event.ts";
import type { Content } from "../../schema/message.ts";
import type { Entry, LoopStatus, SessionTitle } from "../../schema/record.ts";
import type { Archive } from "./archive.ts";
import type { Continuation, KnownEntries } from "./continuation.ts";
import type {
  EvaluationClosing,
  EvaluationOpening,
  EvaluationRecord,
  OpenedEvaluation,
} from "./evaluation.ts";
import type { ForkRequest, ForkResult, RewindOutcome, RewindRequest } from "./fork.ts";
import type { LoopClosing, LoopOpening, LoopRecord, OpenedLoop } from "./loop.ts";
import type { BranchRecord, NewMessage, SessionRecord } from "./session.ts";
import type { FollowSessionRequest, RotateSessionRequest, RotateSessionResult } from "./session-requests.ts";
import type { NewSnapshot, WorkspaceSnapshot } from "./snapshot.ts";
import type { ClaimResult, LostExecution, Step, StepKey, StepRecord } from "./step.ts";
import type { Outbox, SessionDefinition, StoreResult, StoreWrite, WriteTarget } from "./store-write.ts";
import type { SuiteStore } from "./suites.ts";
import type { DeadProcessWork, WorkerProcess } from "./worker-process.ts";

// The transcript: a tree of branches that are only appended to.
//
// Invariants
//   I1. A position of a branch is written once. A writer that finds it taken under the same key has already written; a
//       writer that finds it taken under another key continues on a branch of its own, forked at the write's `base`.
//   I2. A write is atomic.
//   I3. A step's result, once stored, is never replaced.
//   I4. A write of an older generation, or of a process that has lost its claim, is rejected (`FencedError`).
//   I5. Readers see the prefix without gaps of a branch and of a loop's events.

export interface Transcript {
  /** Stores a locally provided definition under the hash of its canonical JSON. Idempotent. */
  saveDefinition(definition: AgentDefinition): Promise<string>;
  readDefinition(hash: string): Promise<AgentDefinition | undefined>;
  /** Checks whether runs may use a definition: false for an imported one until a user accepts it. */
  isAccepted(hash: string): Promise<boolean>;
  acceptDefinition(hash: string): Promise<void>;

  /** Stores a text under its hash (SHA-256, hex), with a lease until an entry refers to it. */
  putText(text: string, atMs: number): Promise<string>;
  readText(hash: string): Promise<string | undefined>;

  /**
   * Stores the parts of a user's message, and the data of its images and files once each, with a lease until the message
   * joins a session. The id is part of the returned hash.
   */
  putParts(id: string, content: readonly Content[], atMs: number): Promise<string>;
  /** Reads the parts of a user's message, with references in place of data. */
  readParts(hash: string): Promise<readonly Content[] | undefined>;
  /** Reads the data that a reference names, as base64. */
  readData(hash: string): Promise<string>;

  /** Opens a loop: session, branch and loop record, the inbox, the prompts. A repeated request returns the same result. */
  openLoop(opening: LoopOpening): Promise<OpenedLoop>;
  /** Writes the outbox and claims the step, or returns the result that an earlier execution stored. */
  claim(step: Step, place: WriteTarget, outbox: Outbox, atMs: number): Promise<ClaimResult>;
  /** Releases a claim after a failure that can be retried, so that the execution does not count as lost. */
  release(step: Step): Promise<void>;
  /** Finds the execution that has claimed a step and has neither released it nor stored its result. */
  findClaimHolder(step: StepKey): Promise<LostExecution | undefined>;
  /** Adds to a claim the process group that it has started, so that the group can be killed. */
  setProcessGroup(step: Step, group: { pgid: number; startTime: string }): Promise<void>;
  /** Reads a small durable note of a tool about its own call. It survives lost executions. */
  readNote(step: StepKey): Promise<string | undefined>;
  setNote(step: Step, text: string): Promise<void>;
  /** Writes outbox, entries and result in one operation. For short steps it also makes the claim. */
  store(write: StoreWrite): Promise<StoreResult>;
  /** Like `store`, and adds messages to the session's inbox, in order, each id once. */
  storeInbox(write: StoreWrite, messages: readonly NewMessage[]): Promise<StoreResult>;
  /** Like `store`, and pins the session to another definition; the text `terms` is retained permanently. */
  storeDefinition(write: StoreWrite, definition: SessionDefinition, terms: string): Promise<StoreResult>;
  /** Like `store`, and gives the session a title as `archive.setTitle` does. */
  storeTitle(write: StoreWrite, title: SessionTitle | undefined): Promise<StoreResult>;
  closeLoop(closing: LoopClosing): Promise<StoreResult>;
  /** Marks loops as aborted whose run was ended externally. Loops that have ended in the meantime are unchanged. */
  abortLoops(session: string, loopIds: readonly string[], atMs: number): Promise<void>;
  /** Pins an idle session to another definition, for its next runs. */
  setDefinition(session: string, definition: SessionDefinition): Promise<void>;

  /** Opens an evaluation: session, group, position and loop numbers. A repeated request returns the same result. */
  openEvaluation(opening: EvaluationOpening): Promise<OpenedEvaluation>;
  /** Adds a warning for the evaluation's watchers. Only the first one is retained. */
  setEvaluationWarning(evaluation: string, warning: string): Promise<void>;
  /** Closes an evaluation: the chosen branch becomes the session's head. Returns the step's result. */
  closeEvaluation(closing: EvaluationClosing): Promise<unknown>;
  /** In order of start. */
  readEvaluations(session: string): Promise<readonly EvaluationRecord[]>;

  /** Creates a branch at a position by reference. A repeated request with the same name returns the same result. */
  fork(asked: ForkRequest): Promise<ForkResult>;
  /** Moves the head of an idle session to a position. If that is not a branch's end, a new branch begins there. */
  rewind(asked: RewindRequest): Promise<RewindOutcome>;
  /** Creates a new session for the agent of another one. Returns undefined if that session does not exist. */
  followSession(following: FollowSessionRequest): Promise<SessionRecord | undefined>;
  /** Finds the newest session that followed this one after it became idle, and creates another if that one is idle too. */
  rotateSession(rotation: RotateSessionRequest): Promise<RotateSessionResult>;
  /** Stores a snapshot of a workspace at a position. Only the first one is retained. */
  saveSnapshot(snapshot: NewSnapshot): Promise<void>;
  /** Reads the snapshots of a branch and its ancestors up to a position, the newest position first. */
  readSnapshots(
    session: string,
    at: { branch: string; position: number },
  ): Promise<readonly WorkspaceSnapshot[]>;
  /**
   * Copies to the forks of a session what they show of it, so that the session can be deleted. Returns the number of forked
   * branches.
   */
  detachForks(session: string): Promise<number>;

  readSession(id: string): Promise<SessionRecord | undefined>;
  /** Finds sessions, the most recently active first. */
  findSessions(filter: {
    limit: number;
    agentName?: string;
    status?: LoopStatus;
    /** Only sub-agents that this session has called. */
    spawnedBy?: string;
  }): Promise<readonly SessionRecord[]>;
  /** In order of start. */
  readLoops(session: string): Promise<readonly LoopRecord[]>;
  readBranches(session: string): Promise<readonly BranchRecord[]>;
  /**
   * Reads the entries from `from` to `to` (exclusive) up to the first gap, including those of ancestors.
   *
   * @param data - `reference`: images and files have references in place of their data.
   */
  readEntries(
    session: string,
    branch: string,
    from: number,
    to: number,
    data?: "whole" | "reference",
  ): Promise<readonly Entry[]>;
  /** Reads the entries before `to` that follow known ones, with references in place of the data of images and files. */
  readContinuation(session: string, branch: string, known: KnownEntries, to: number): Promise<Continuation>;
  /** Counts the entries of a branch, including those of ancestors. */
  countEntries(session: string, branch: string): Promise<number>;
  /** Reads a loop's events from `from` up to the first gap. */
  readEvents(loopId: string, from: number): Promise<readonly LoopEvent[]>;
  readInbox(session: string): Promise<readonly NewMessage[]>;
  /** Counts the messages in the session's inbox. */
  countInbox(session: string): Promise<number>;
  readSteps(session: string): Promise<readonly StepRecord[]>;

  registerProcess(process: WorkerProcess): Promise<void>;
  unregisterProcess(processId: string): Promise<void>;
  listProcesses(host: string): Promise<readonly WorkerProcess[]>;
  findDeadProcessWork(processId: string): Promise<DeadProcessWork>;

  /** Operations on whole sessions. */
  readonly archive: Archive;
  /** Runs of suites, and the answers that their cells share. */
  readonly suites: SuiteStore;

  close(): Promise<void>;
}
