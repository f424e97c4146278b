import type { AgentDefinition } from "../../../schema/definition.ts";
import type { LoopEvent } from "../../../schema/loop-event.ts";
import type { Content } from "../../../schema/message.ts";
import type { Entry, LoopStatus, SessionTitle } from "../../../schema/record.ts";
import type { Archive } from "../archive.ts";
import type { Continuation, KnownEntries } from "../continuation.ts";
import type {
  EvaluationClosing,
  EvaluationOpening,
  EvaluationRecord,
  OpenedEvaluation,
} from "../evaluation.ts";
import type { ForkRequest, ForkResult, RewindOutcome, RewindRequest } from "../fork.ts";
import type { LoopClosing, LoopOpening, LoopRecord, OpenedLoop } from "../loop.ts";
import type { BranchRecord, NewMessage, SessionRecord } from "../session.ts";
import type { FollowSessionRequest, RotateSessionRequest, RotateSessionResult } from "../session-requests.ts";
import type { NewSnapshot, WorkspaceSnapshot } from "../snapshot.ts";
import type { ClaimResult, LostExecution, Step, StepKey, StepRecord } from "../step.ts";
import type { Outbox, SessionDefinition, StoreResult, StoreWrite, WriteTarget } from "../store-write.ts";
import type { SuiteStore } from "../suites.ts";
import type { Transcript } from "../transcript.ts";
import type { DeadProcessWork, WorkerProcess } from "../worker-process.ts";
import { findBranch, readLength } from "./branches.ts";
import { readText } from "./contents.ts";
import { findCurrentSession } from "./create-session.ts";
import { isAccepted, readDefinition } from "./definitions.ts";
import type { Engine } from "./engine.ts";
import { readEvaluations } from "./evaluations.ts";
import { countInbox, readInbox } from "./inbox.ts";
import { readData, readParts } from "./message-data.ts";
import { readContinuation, readEntries, readEvents, readPages } from "./paged-reads.ts";
import { findDeadProcessWork, listProcesses } from "./processes.ts";
import { findSessions, readBranches, readLoopPage, readSession, readStepPage } from "./read-records.ts";
import type { RekeyCursor, RekeyPage } from "./rekey-page.ts";
import { readSnapshots } from "./snapshots.ts";
import { SqlArchive } from "./sql-archive.ts";
import { SqlSuites } from "./sql-suites.ts";
import { findClaimHolder, readNote } from "./step-claims.ts";

/** The transcript in a database, on any engine. */
export class SqlTranscript implements Transcript {
  readonly archive: Archive;
  readonly suites: SuiteStore;
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.archive = new SqlArchive(engine);
    this.suites = new SqlSuites(engine);
    this.#engine = engine;
  }

  saveDefinition(definition: AgentDefinition): Promise<string> {
    return this.#engine.write("saveDefinition", definition);
  }

  isAccepted(hash: string): Promise<boolean> {
    return this.#engine.read(() => isAccepted(hash));
  }

  acceptDefinition(hash: string): Promise<void> {
    return this.#engine.write("acceptDefinition", hash);
  }

  readDefinition(hash: string): Promise<AgentDefinition | undefined> {
    return this.#engine.read(() => readDefinition(hash));
  }

  putText(text: string, atMs: number): Promise<string> {
    return this.#engine.write("putText", text, atMs);
  }

  readText(hash: string): Promise<string | undefined> {
    return this.#engine.read(() => readText(hash));
  }

  putParts(id: string, content: readonly Content[], atMs: number): Promise<string> {
    return this.#engine.write("putParts", id, content, atMs);
  }

  readParts(hash: string): Promise<readonly Content[] | undefined> {
    return this.#engine.read(() => readParts(hash));
  }

  readData(hash: string): Promise<string> {
    return this.#engine.read(() => readData(hash));
  }

  openLoop(opening: LoopOpening): Promise<OpenedLoop> {
    return this.#engine.write("openLoop", opening);
  }

  claim(step: Step, target: WriteTarget, outbox: Outbox, atMs: number): Promise<ClaimResult> {
    return this.#engine.write("claim", step, target, outbox, atMs);
  }

  release(step: Step): Promise<void> {
    return this.#engine.write("release", step);
  }

  setProcessGroup(step: Step, group: { pgid: number; startTime: string }): Promise<void> {
    return this.#engine.write("setProcessGroup", step, group);
  }

  findClaimHolder(step: StepKey): Promise<LostExecution | undefined> {
    return this.#engine.read(() => findClaimHolder(step));
  }

  readNote(step: StepKey): Promise<string | undefined> {
    return this.#engine.read(() => readNote(step));
  }

  setNote(step: Step, text: string): Promise<void> {
    return this.#engine.write("setNote", step, text);
  }

  store(write: StoreWrite): Promise<StoreResult> {
    return this.#engine.write("store", write);
  }

  storeInbox(write: StoreWrite, messages: readonly NewMessage[]): Promise<StoreResult> {
    return this.#engine.write("storeInbox", write, messages);
  }

  storeDefinition(write: StoreWrite, definition: SessionDefinition, terms: string): Promise<StoreResult> {
    return this.#engine.write("storeDefinition", write, definition, terms);
  }

  setDefinition(session: string, definition: SessionDefinition): Promise<void> {
    return this.#engine.write("setDefinition", session, definition);
  }

  storeTitle(write: StoreWrite, title: SessionTitle | undefined): Promise<StoreResult> {
    return this.#engine.write("storeTitle", write, title);
  }

  closeLoop(closing: LoopClosing): Promise<StoreResult> {
    return this.#engine.write("closeLoop", closing);
  }

  openEvaluation(opening: EvaluationOpening): Promise<OpenedEvaluation> {
    return this.#engine.write("openEvaluation", opening);
  }

  setEvaluationWarning(evaluation: string, warning: string): Promise<void> {
    return this.#engine.write("setEvaluationWarning", evaluation, warning);
  }

  closeEvaluation(closing: EvaluationClosing): Promise<unknown> {
    return this.#engine.write("closeEvaluation", closing);
  }

  readEvaluations(session: string): Promise<readonly EvaluationRecord[]> {
    return this.#engine.read(() => readEvaluations(session));
  }

  fork(request: ForkRequest): Promise<ForkResult> {
    return this.#engine.write("fork", request);
  }

  abortLoops(session: string, loopIds: readonly string[], atMs: number): Promise<void> {
    return this.#engine.write("abortLoops", session, loopIds, atMs);
  }

  rewind(request: RewindRequest): Promise<RewindOutcome> {
    return this.#engine.write("rewind", request);
  }

  followSession(following: FollowSessionRequest): Promise<SessionRecord | undefined> {
    return this.#engine.write("followSession", following);
  }

  async rotateSession(rotation: RotateSessionRequest): Promise<RotateSessionResult> {
    // Most sessions are not idle, and this check needs no write lock.
    const { session, isIdle } = await this.#engine.read(() => findCurrentSession(rotation));
    return isIdle ? await this.#engine.write("rotateSession", rotation) : { session, isNew: false };
  }

  saveSnapshot(snapshot: NewSnapshot): Promise<void> {
    return this.#engine.write("saveSnapshot", snapshot);
  }

  readSnapshots(
    session: string,
    at: { branch: string; position: number },
  ): Promise<readonly WorkspaceSnapshot[]> {
    return this.#engine.read(() => readSnapshots(session, at));
  }

  detachForks(session: string): Promise<number> {
    return this.#engine.write("detachForks", session);
  }

  readSession(id: string): Promise<SessionRecord | undefined> {
    return this.#engine.read(() => readSession(id));
  }

  findSessions(filter: {
    limit: number;
    agentName?: string;
    status?: LoopStatus;
    spawnedBy?: string;
  }): Promise<readonly SessionRecord[]> {
    return this.#engine.read(() => findSessions(filter));
  }

  readLoops(session: string): Promise<readonly LoopRecord[]> {
    return readPages(this.#engine, (after, limit) => readLoopPage(session, after, limit));
  }

  readBranches(session: string): Promise<readonly BranchRecord[]> {
    return this.#engine.read(() => readBranches(session));
  }

  readEntries(
    session: string,
    branch: string,
    from: number,
    to: number,
    data?: "whole" | "reference",
  ): Promise<readonly Entry[]> {
    return readEntries(this.#engine, session, branch, from, to, data);
  }

  readContinuation(session: string, branch: string, known: KnownEntries, to: number): Promise<Continuation> {
    return readContinuation(this.#engine, session, branch, known, to);
  }

  countEntries(session: string, branch: string): Promise<number> {
    return this.#engine.read(function* () {
      const found = yield* findBranch(session, branch);
      return found === undefined ? 0 : yield* readLength(found);
    });
  }

  readEvents(loopId: string, from: number): Promise<readonly LoopEvent[]> {
    return readEvents(this.#engine, loopId, from);
  }

  readInbox(session: string): Promise<readonly NewMessage[]> {
    return this.#engine.read(() => readInbox(session));
  }

  countInbox(session: string): Promise<number> {
    return this.#engine.read(() => countInbox(session));
  }

  readSteps(session: string): Promise<readonly StepRecord[]> {
    return readPages(this.#engine, (after, limit) => readStepPage(session, after, limit));
  }

  registerProcess(process: WorkerProcess): Promise<void> {
    return this.#engine.write("registerProcess", process);
  }

  unregisterProcess(processId: string): Promise<void> {
    return this.#engine.write("unregisterProcess", processId);
  }

  listProcesses(host: string): Promise<readonly WorkerProcess[]> {
    return this.#engine.read(() => listProcesses(host));
  }

  findDeadProcessWork(processId: string): Promise<DeadProcessWork> {
    return this.#engine.read(() => findDeadProcessWork(processId));
  }

  /** Re-encrypts one page of the stored data; `to` is the key with which this transcript writes. */
  rekeyPage(to: string | undefined, cursor?: RekeyCursor): Promise<RekeyPage> {
    return cursor === undefined
      ? this.#engine.write("rekey", to ?? null)
      : this.#engine.write("rekey", to ?? null, cursor);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
