import type { AgentDefinition } from "../../../schema/definition.ts";
import type { BodyLine } from "../../../schema/export-line.ts";
import type { Content } from "../../../schema/message.ts";
import type { SessionTitle } from "../../../schema/record.ts";
import type { SuiteControl } from "../../../schema/suite.ts";
import type { IdleSnapshot, SessionEdit } from "../archive.ts";
import type { EvaluationClosing, EvaluationOpening } from "../evaluation.ts";
import type { ForkRequest, RewindRequest } from "../fork.ts";
import type { LoopClosing, LoopOpening } from "../loop.ts";
import type { NewMessage } from "../session.ts";
import type { FollowSessionRequest, RotateSessionRequest } from "../session-requests.ts";
import type { NewSnapshot } from "../snapshot.ts";
import type { Step } from "../step.ts";
import type { Outbox, SessionDefinition, StoreWrite, WriteTarget } from "../store-write.ts";
import type {
  AnsweredCell,
  FinishedCell,
  NewSuiteRun,
  NumberedCase,
  PlannedCell,
  ScoredBy,
  StoredAnswer,
} from "../suites.ts";
import type { WorkerProcess } from "../worker-process.ts";
import { type AnswerPruning, pruneAnswers, putAnswer, touchAnswers } from "./answers.ts";
import { putContent, putText } from "./contents.ts";
import { followSession, rotateSession } from "./create-session.ts";
import { acceptDefinition, saveAcceptedDefinition, setDefinition } from "./definitions.ts";
import { beginDelete, deletePage } from "./delete-session.ts";
import { detachForks } from "./detach-forks.ts";
import { editSession, setScope } from "./edit-session.ts";
import { closeEvaluation, openEvaluation, setEvaluationWarning } from "./evaluations.ts";
import { forkBranch, rewindHead } from "./fork-and-rewind.ts";
import { finishImport, importLines } from "./import-lines.ts";
import { putInbox } from "./inbox.ts";
import { putParts } from "./message-data.ts";
import { closeLoop, openLoop } from "./open-loop.ts";
import { registerProcess, unregisterProcess } from "./processes.ts";
import { recordAnsweredCell } from "./record-answered-cell.ts";
import { type RekeyCursor, rekeyPage } from "./rekey-page.ts";
import { fillSearchIndex } from "./search.ts";
import { abortLoops } from "./sessions.ts";
import { saveSnapshot } from "./snapshots.ts";
import type { Work } from "./statement.ts";
import { claimStep, releaseStep, setNote, setProcessGroup, storeStep } from "./step-claims.ts";
import { addCells, markReusedCells, retryFailed } from "./suite-cells.ts";
import { type ClaimTerms, claimCells, giveRunToCell, releaseClaims, renewClaims } from "./suite-claims.ts";
import { addScores, finishCell } from "./suite-results.ts";
import { addCases, controlRun, createRun, deleteRunPage, setStatus, startRun } from "./suite-runs.ts";
import { addTextOwner, releaseTexts, sweepTexts } from "./texts.ts";
import { setTitle } from "./titles.ts";

/** All write operations by name: an engine receives a name and arguments. */
const OPERATIONS = {
  saveDefinition: (definition: AgentDefinition) => saveAcceptedDefinition(definition),
  acceptDefinition: (hash: string) => acceptDefinition(hash),
  putText: (text: string, atMs: number) => putText(text, atMs),
  putParts: (id: string, content: readonly Content[], atMs: number) => putParts(id, content, atMs),
  openLoop: (opening: LoopOpening) => openLoop(opening),
  claim: (step: Step, place: WriteTarget, outbox: Outbox, atMs: number) =>
    claimStep(step, place, outbox, atMs),
  release: (step: Step) => releaseStep(step),
  setProcessGroup: (step: Step, group: { pgid: number; startTime: string }) => setProcessGroup(step, group),
  setNote: (step: Step, text: string) => setNote(step, text),
  store: (write: StoreWrite) => storeStep(write),
  storeInbox: (write: StoreWrite, messages: readonly NewMessage[]) =>
    storeStep(write, () => putInbox(write.step.session, messages)),
  storeDefinition: (write: StoreWrite, definition: SessionDefinition, terms: string) =>
    storeStep(write, function* () {
      yield* addTextOwner(write.step.session, yield* putContent(terms));
      yield* setDefinition(write.step.session, definition);
    }),
  setDefinition: (session: string, definition: SessionDefinition) => setDefinition(session, definition),
  closeLoop: (closing: LoopClosing) => closeLoop(closing),
  abortLoops: (session: string, loopIds: readonly string[], atMs: number) =>
    abortLoops(session, loopIds, atMs),
  openEvaluation: (opening: EvaluationOpening) => openEvaluation(opening),
  setEvaluationWarning: (evaluation: string, warning: string) => setEvaluationWarning(evaluation, warning),
  closeEvaluation: (closing: EvaluationClosing) => closeEvaluation(closing),
  rekey: (to: string | null, cursor?: RekeyCursor) => rekeyPage(to, cursor),
  fork: (asked: ForkRequest) => forkBranch(asked),
  rewind: (asked: RewindRequest) => rewindHead(asked),
  followSession: (following: FollowSessionRequest) => followSession(following),
  rotateSession: (rotation: RotateSessionRequest) => rotateSession(rotation),
  saveSnapshot: (snapshot: NewSnapshot) => saveSnapshot(snapshot),
  detachForks: (session: string) => detachForks(session),
  importLines: (token: string, lines: readonly BodyLine[], atMs: number) => importLines(token, lines, atMs),
  finishImport: (token: string, sessions: readonly string[], digest: string) =>
    finishImport(token, sessions, digest),
  edit: (change: SessionEdit) => editSession(change),
  setTitle: (session: string, title: SessionTitle) => setTitle(session, title),
  storeTitle: (write: StoreWrite, title: SessionTitle | undefined) =>
    storeStep(write, function* () {
      if (title !== undefined) yield* setTitle(write.step.session, title);
    }),
  setScope: (session: string, scope: "ephemeral" | "persistent") => setScope(session, scope),
  beginDelete: (session: string, seen?: IdleSnapshot | undefined) => beginDelete(session, seen),
  deletePage: (session: string, atMs: number) => deletePage(session, atMs),
  addTextOwner: (owner: string, hash: string) => addTextOwner(owner, hash),
  releaseTexts: (owner: string, atMs: number) => releaseTexts(owner, atMs),
  sweepTexts: (atMs: number, limit: number) => sweepTexts(atMs, limit),
  fillSearchIndex: (limit: number) => fillSearchIndex(limit),
  registerProcess: (process: WorkerProcess) => registerProcess(process),
  unregisterProcess: (processId: string) => unregisterProcess(processId),
  createSuiteRun: (run: NewSuiteRun) => createRun(run),
  addSuiteCases: (run: string, cases: readonly NumberedCase[]) => addCases(run, cases),
  addSuiteCells: (run: string, cells: readonly PlannedCell[]) => addCells(run, cells),
  markReusedCells: (run: string, after: number) => markReusedCells(run, after),
  startSuiteRun: (run: string, atMs: number) => startRun(run, atMs),
  controlSuiteRun: (run: string, change: Partial<SuiteControl>) => controlRun(run, change),
  setSuiteStatus: (run: string, change: Parameters<typeof setStatus>[1]) => setStatus(run, change),
  retryFailedCells: (run: string, failureClass?: string | undefined) => retryFailed(run, failureClass),
  giveRunToCell: (run: string, number: number) => giveRunToCell(run, number),
  deleteSuiteRunPage: (run: string, limit: number) => deleteRunPage(run, limit),
  claimCells: (cells: readonly PlannedCell[], claim: ClaimTerms) => claimCells(cells, claim),
  renewClaims: (owner: string, untilMs: number) => renewClaims(owner, untilMs),
  releaseClaims: (owner: string) => releaseClaims(owner),
  finishCell: (finished: FinishedCell) => finishCell(finished),
  recordAnsweredCell: (answered: AnsweredCell) => recordAnsweredCell(answered),
  addScores: (run: string, number: number, cell: string, scores: readonly ScoredBy[]) =>
    addScores(run, number, cell, scores),
  touchAnswers: (keys: readonly string[], atMs: number) => touchAnswers(keys, atMs),
  putAnswer: (answer: StoredAnswer) => putAnswer(answer),
  pruneAnswers: (pruning: AnswerPruning) => pruneAnswers(pruning),
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
export type OperationArguments<Name extends OperationName> = Parameters<Operations[Name]>;
export type OperationResult<Name extends OperationName> =
  ReturnType<Operations[Name]> extends Work<infer Result> ? Result : never;

export function runOperation(name: OperationName, values: readonly unknown[]): Work<unknown> {
  const begin = OPERATIONS[name] as (...values: readonly unknown[]) => Work<unknown>;
  return begin(...values);
}
