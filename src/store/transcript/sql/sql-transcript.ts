import type { AgentDefinition } from "../../../schema/definition.ts";
import type { Entry, LoopEvent, LoopStatus } from "../../../schema/record.ts";
import type { Archive } from "../archive.ts";
import type {
  EvaluationClosing,
  EvaluationOpened,
  EvaluationOpening,
  EvaluationRecord,
} from "../evaluation.ts";
import type { ForkAsked, Forked, RewindAsked, Rewound } from "../fork.ts";
import type { Rotated, SessionFollowing, SessionRotation } from "../formation.ts";
import type { LoopClosing, LoopOpened, LoopOpening, LoopRecord } from "../loop.ts";
import type { BranchRecord, NewMessage, SessionRecord } from "../session.ts";
import type { NewSnapshot, WorkspaceSnapshot } from "../snapshot.ts";
import type { Claimed, LostExecution, Step, StepKey, StepRecord } from "../step.ts";
import type { Transcript } from "../transcript.ts";
import type { Remains, WorkerProcess } from "../worker-process.ts";
import type { Outbox, Place, SessionDefinition, Stored, StoreWrite } from "../write.ts";
import { findBranch, lengthOf } from "./branches.ts";
import { textOf } from "./contents.ts";
import { definitionOf, isAccepted } from "./definitions.ts";
import type { Engine } from "./engine.ts";
import { writersOf } from "./entries.ts";
import { evaluationsOf } from "./evaluations.ts";
import { currentOf } from "./formation.ts";
import { inboxOf, inboxSize } from "./inbox.ts";
import { readEntries, readEvents, readPages } from "./long-reads.ts";
import { processesOf, remainsOf } from "./processes.ts";
import { branchesOf, loopPage, sessionOf, sessionsOf, stepPage } from "./records.ts";
import type { RekeyCursor, RekeyPage } from "./rekey.ts";
import { snapshotsOf } from "./snapshots.ts";
import { SqlArchive } from "./sql-archive.ts";
import { holderOf, noteOf } from "./steps.ts";

/** The transcript in a database, whichever engine carries the statements out. */
export class SqlTranscript implements Transcript {
  readonly archive: Archive;
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.archive = new SqlArchive(engine);
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

  definition(hash: string): Promise<AgentDefinition | undefined> {
    return this.#engine.read(() => definitionOf(hash));
  }

  putText(text: string, atMs: number): Promise<string> {
    return this.#engine.write("putText", text, atMs);
  }

  text(hash: string): Promise<string | undefined> {
    return this.#engine.read(() => textOf(hash));
  }

  openLoop(opening: LoopOpening): Promise<LoopOpened> {
    return this.#engine.write("openLoop", opening);
  }

  claim(step: Step, place: Place, outbox: Outbox, atMs: number): Promise<Claimed> {
    return this.#engine.write("claim", step, place, outbox, atMs);
  }

  release(step: Step): Promise<void> {
    return this.#engine.write("release", step);
  }

  noteGroup(step: Step, group: { pgid: number; startTime: string }): Promise<void> {
    return this.#engine.write("noteGroup", step, group);
  }

  holder(step: StepKey): Promise<LostExecution | undefined> {
    return this.#engine.read(() => holderOf(step));
  }

  note(step: StepKey): Promise<string | undefined> {
    return this.#engine.read(() => noteOf(step));
  }

  setNote(step: Step, text: string): Promise<void> {
    return this.#engine.write("setNote", step, text);
  }

  store(write: StoreWrite): Promise<Stored> {
    return this.#engine.write("store", write);
  }

  storeInbox(write: StoreWrite, messages: readonly NewMessage[]): Promise<Stored> {
    return this.#engine.write("storeInbox", write, messages);
  }

  storeDefinition(write: StoreWrite, definition: SessionDefinition, terms: string): Promise<Stored> {
    return this.#engine.write("storeDefinition", write, definition, terms);
  }

  setDefinition(session: string, definition: SessionDefinition): Promise<void> {
    return this.#engine.write("setDefinition", session, definition);
  }

  closeLoop(closing: LoopClosing): Promise<Stored> {
    return this.#engine.write("closeLoop", closing);
  }

  openEvaluation(opening: EvaluationOpening): Promise<EvaluationOpened> {
    return this.#engine.write("openEvaluation", opening);
  }

  warnOfEvaluation(evaluation: string, warning: string): Promise<void> {
    return this.#engine.write("warnOfEvaluation", evaluation, warning);
  }

  closeEvaluation(closing: EvaluationClosing): Promise<unknown> {
    return this.#engine.write("closeEvaluation", closing);
  }

  evaluations(session: string): Promise<readonly EvaluationRecord[]> {
    return this.#engine.read(() => evaluationsOf(session));
  }

  fork(asked: ForkAsked): Promise<Forked> {
    return this.#engine.write("fork", asked);
  }

  abortLoops(session: string, loopIds: readonly string[], atMs: number): Promise<void> {
    return this.#engine.write("abortLoops", session, loopIds, atMs);
  }

  rewind(asked: RewindAsked): Promise<Rewound> {
    return this.#engine.write("rewind", asked);
  }

  followSession(following: SessionFollowing): Promise<SessionRecord | undefined> {
    return this.#engine.write("followSession", following);
  }

  async rotateSession(rotation: SessionRotation): Promise<Rotated> {
    // Most are not idle, and to find that out nobody needs to be kept from writing.
    const { session, isIdle } = await this.#engine.read(() => currentOf(rotation));
    return isIdle ? await this.#engine.write("rotateSession", rotation) : { session, isNew: false };
  }

  keepSnapshot(snapshot: NewSnapshot): Promise<void> {
    return this.#engine.write("keepSnapshot", snapshot);
  }

  snapshots(
    session: string,
    at: { branch: string; position: number },
  ): Promise<readonly WorkspaceSnapshot[]> {
    return this.#engine.read(() => snapshotsOf(session, at));
  }

  bequeath(session: string): Promise<number> {
    return this.#engine.write("bequeath", session);
  }

  session(id: string): Promise<SessionRecord | undefined> {
    return this.#engine.read(() => sessionOf(id));
  }

  sessions(filter: {
    limit: number;
    agentName?: string;
    status?: LoopStatus;
    spawnedBy?: string;
  }): Promise<readonly SessionRecord[]> {
    return this.#engine.read(() => sessionsOf(filter));
  }

  loops(session: string): Promise<readonly LoopRecord[]> {
    return readPages(this.#engine, (behind, limit) => loopPage(session, behind, limit));
  }

  branches(session: string): Promise<readonly BranchRecord[]> {
    return this.#engine.read(() => branchesOf(session));
  }

  entries(session: string, branch: string, from: number, to: number): Promise<readonly Entry[]> {
    return readEntries(this.#engine, session, branch, from, to);
  }

  writers(
    session: string,
    branch: string,
    positions: readonly number[],
  ): Promise<readonly (string | undefined)[]> {
    return this.#engine.read(() => writersOf(session, branch, positions));
  }

  length(session: string, branch: string): Promise<number> {
    return this.#engine.read(function* () {
      const found = yield* findBranch(session, branch);
      return found === undefined ? 0 : yield* lengthOf(found);
    });
  }

  events(loopId: string, from: number): Promise<readonly LoopEvent[]> {
    return readEvents(this.#engine, loopId, from);
  }

  inbox(session: string): Promise<readonly NewMessage[]> {
    return this.#engine.read(() => inboxOf(session));
  }

  inboxSize(session: string): Promise<number> {
    return this.#engine.read(() => inboxSize(session));
  }

  steps(session: string): Promise<readonly StepRecord[]> {
    return readPages(this.#engine, (behind, limit) => stepPage(session, behind, limit));
  }

  signIn(process: WorkerProcess): Promise<void> {
    return this.#engine.write("signIn", process);
  }

  signOut(processId: string): Promise<void> {
    return this.#engine.write("signOut", processId);
  }

  processes(host: string): Promise<readonly WorkerProcess[]> {
    return this.#engine.read(() => processesOf(host));
  }

  remains(processId: string): Promise<Remains> {
    return this.#engine.read(() => remainsOf(processId));
  }

  /** Seals one page of what is stored anew; `to` is the key that this transcript writes with. */
  rekeyPage(to: string | undefined, cursor?: RekeyCursor): Promise<RekeyPage> {
    return cursor === undefined
      ? this.#engine.write("rekey", to ?? null)
      : this.#engine.write("rekey", to ?? null, cursor);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
