import type { AgentDefinition } from "../../schema/definition.ts";
import type { Entry, LoopEvent, LoopStatus } from "../../schema/record.ts";
import type { Archive } from "./archive.ts";
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
import type { DeadProcessWork, WorkerProcess } from "./worker-process.ts";

// The transcript: a tree of branches that are only appended to.
//
// Invariants
//   I1. A position of a branch is written once. Who finds it taken under the same key has already written; who
//       finds it taken under another key goes on in a branch of its own, forked at the write's `base`.
//   I2. Everything in one write is there, or nothing of it is.
//   I3. A step's result, once stored, is never replaced.
//   I4. A write of an older generation, or of a process that has lost its claim, is refused (`FencedError`).
//   I5. Readers see the unbroken prefix of a branch and of a loop's events.

export interface Transcript {
  /** Stores a definition that was given here under the hash of its canonical JSON. Again: the same hash, nothing new. */
  saveDefinition(definition: AgentDefinition): Promise<string>;
  readDefinition(hash: string): Promise<AgentDefinition | undefined>;
  /** Whether a run may be started with it: false for one that came with an import, until somebody accepts it. */
  isAccepted(hash: string): Promise<boolean>;
  acceptDefinition(hash: string): Promise<void>;

  /** Stores a text under its hash (SHA-256, hex), under a lease until an entry names it. */
  putText(text: string, atMs: number): Promise<string>;
  readText(hash: string): Promise<string | undefined>;

  /** Opens a loop: session, branch and loop record, the inbox, the prompts. Asked again: the same answer. */
  openLoop(opening: LoopOpening): Promise<OpenedLoop>;
  /** Writes the outbox and takes the step, or gives the result that an earlier execution stored. */
  claim(step: Step, place: WriteTarget, outbox: Outbox, atMs: number): Promise<ClaimResult>;
  /** Gives a claim back after a failure that may be tried again: nobody will take it for lost. */
  release(step: Step): Promise<void>;
  /** Who has claimed a step, and has neither given it back nor stored its result. */
  findClaimHolder(step: StepKey): Promise<LostExecution | undefined>;
  /** Adds to a claim what is needed to end what it has started. */
  setProcessGroup(step: Step, group: { pgid: number; startTime: string }): Promise<void>;
  /** A small durable note of a tool about its own call; survives lost executions. */
  readNote(step: StepKey): Promise<string | undefined>;
  setNote(step: Step, text: string): Promise<void>;
  /** Writes outbox, entries and result in one go. Without a claim before, it makes one: for steps that are short. */
  store(write: StoreWrite): Promise<StoreResult>;
  /** Like `store`, and puts messages into the session's inbox, in order, each id once. */
  storeInbox(write: StoreWrite, messages: readonly NewMessage[]): Promise<StoreResult>;
  /** Like `store`, and pins the session to another definition; the text `terms` is kept for good. */
  storeDefinition(write: StoreWrite, definition: SessionDefinition, terms: string): Promise<StoreResult>;
  closeLoop(closing: LoopClosing): Promise<StoreResult>;
  /** Says of loops that their run was ended from outside; of those that have ended meanwhile it says nothing. */
  abortLoops(session: string, loopIds: readonly string[], atMs: number): Promise<void>;
  /** Pins a session at rest to another definition, for the runs that come. */
  setDefinition(session: string, definition: SessionDefinition): Promise<void>;

  /** Begins an evaluation: session, group, the place and the numbers of its loops. Asked again: the same answer. */
  openEvaluation(opening: EvaluationOpening): Promise<OpenedEvaluation>;
  /** Adds what its watchers are warned of; the first warning stays. */
  setEvaluationWarning(evaluation: string, warning: string): Promise<void>;
  /** Ends it: the chosen branch is the session's head. Gives the step's result. */
  closeEvaluation(closing: EvaluationClosing): Promise<unknown>;
  /** In order of start. */
  readEvaluations(session: string): Promise<readonly EvaluationRecord[]>;

  /** Begins a branch at a place by reference; asked again under the same name: the same answer. */
  fork(asked: ForkRequest): Promise<ForkResult>;
  /** Moves the head of a session at rest to a place, by a branch that begins there where it is not a branch's end. */
  rewind(asked: RewindRequest): Promise<RewindOutcome>;
  /** Makes a new session for the agent of another one. Nothing when that one is not there. */
  followSession(following: FollowSessionRequest): Promise<SessionRecord | undefined>;
  /** The newest session that has followed this one for its idleness, with one more if that one is idle too. */
  rotateSession(rotation: RotateSessionRequest): Promise<RotateSessionResult>;
  /** Keeps what a workspace held at a place; the first one stays. */
  saveSnapshot(snapshot: NewSnapshot): Promise<void>;
  /** Those that a branch shows up to a place, its ancestors' included, the newest place first. */
  readSnapshots(
    session: string,
    at: { branch: string; position: number },
  ): Promise<readonly WorkspaceSnapshot[]>;
  /**
   * Gives the sessions that have begun by a fork of this one what they show of it, so that it can be deleted. Gives how
   * many branches there were.
   */
  detachForks(session: string): Promise<number>;

  readSession(id: string): Promise<SessionRecord | undefined>;
  /** Newest activity first. */
  findSessions(filter: {
    limit: number;
    agentName?: string;
    status?: LoopStatus;
    /** The session of an agent whose sub-agents are asked for. */
    spawnedBy?: string;
  }): Promise<readonly SessionRecord[]>;
  /** In order of start. */
  readLoops(session: string): Promise<readonly LoopRecord[]>;
  readBranches(session: string): Promise<readonly BranchRecord[]>;
  /** The unbroken run of entries from `from`, not including `to`, ancestors' entries included. */
  readEntries(session: string, branch: string, from: number, to: number): Promise<readonly Entry[]>;
  /** The runs that have written what stands at these positions of a branch, ancestors' included. */
  readWriters(
    session: string,
    branch: string,
    positions: readonly number[],
  ): Promise<readonly (string | undefined)[]>;
  /** How many entries a branch has, ancestors' included. */
  countEntries(session: string, branch: string): Promise<number>;
  /** The unbroken run of a loop's events from `from`. */
  readEvents(loopId: string, from: number): Promise<readonly LoopEvent[]>;
  readInbox(session: string): Promise<readonly NewMessage[]>;
  /** How many messages the session's inbox holds. */
  countInbox(session: string): Promise<number>;
  readSteps(session: string): Promise<readonly StepRecord[]>;

  registerProcess(process: WorkerProcess): Promise<void>;
  unregisterProcess(processId: string): Promise<void>;
  listProcesses(host: string): Promise<readonly WorkerProcess[]>;
  findDeadProcessWork(processId: string): Promise<DeadProcessWork>;

  /** What is done with whole sessions. */
  readonly archive: Archive;

  close(): Promise<void>;
}
