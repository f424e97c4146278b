import type { AgentDefinition } from "../../../schema/definition.ts";
import type { BodyLine } from "../../../schema/export-line.ts";
import type { Edit, SeenAtRest } from "../archive.ts";
import type { EvaluationClosing, EvaluationOpening } from "../evaluation.ts";
import type { ForkAsked, RewindAsked } from "../fork.ts";
import type { SessionFollowing, SessionRotation } from "../formation.ts";
import type { LoopClosing, LoopOpening } from "../loop.ts";
import type { NewMessage } from "../session.ts";
import type { NewSnapshot } from "../snapshot.ts";
import type { Step } from "../step.ts";
import type { WorkerProcess } from "../worker-process.ts";
import type { Outbox, Place, SessionDefinition, StoreWrite } from "../write.ts";
import { fork, rewind } from "./asked-branches.ts";
import { bequeath } from "./bequeath.ts";
import { putContent, putText } from "./contents.ts";
import { acceptDefinition, giveDefinition, setDefinition } from "./definitions.ts";
import { beginDelete, deletePage } from "./delete.ts";
import { edit, setScope } from "./edit.ts";
import { closeEvaluation, openEvaluation, warnOfEvaluation } from "./evaluations.ts";
import { followSession, rotateSession } from "./formation.ts";
import { finishImport, importLines } from "./import.ts";
import { putInbox } from "./inbox.ts";
import { closeLoop, openLoop } from "./loops.ts";
import { signIn, signOut } from "./processes.ts";
import { type RekeyCursor, rekey } from "./rekey.ts";
import { fillSearch } from "./search.ts";
import { abortLoops } from "./sessions.ts";
import { keepSnapshot } from "./snapshots.ts";
import type { Work } from "./statement.ts";
import { claim, noteGroup, release, setNote, store } from "./steps.ts";
import { nameText, sweepTexts } from "./texts.ts";

/** Everything that writes, by name: what crosses to an engine is a name and its arguments. */
const OPERATIONS = {
  saveDefinition: (definition: AgentDefinition) => giveDefinition(definition),
  acceptDefinition: (hash: string) => acceptDefinition(hash),
  putText: (text: string, atMs: number) => putText(text, atMs),
  openLoop: (opening: LoopOpening) => openLoop(opening),
  claim: (step: Step, place: Place, outbox: Outbox, atMs: number) => claim(step, place, outbox, atMs),
  release: (step: Step) => release(step),
  noteGroup: (step: Step, group: { pgid: number; startTime: string }) => noteGroup(step, group),
  setNote: (step: Step, text: string) => setNote(step, text),
  store: (write: StoreWrite) => store(write),
  storeInbox: (write: StoreWrite, messages: readonly NewMessage[]) =>
    store(write, () => putInbox(write.step.session, messages)),
  storeDefinition: (write: StoreWrite, definition: SessionDefinition, terms: string) =>
    store(write, function* () {
      yield* nameText(write.step.session, yield* putContent(terms));
      yield* setDefinition(write.step.session, definition);
    }),
  setDefinition: (session: string, definition: SessionDefinition) => setDefinition(session, definition),
  closeLoop: (closing: LoopClosing) => closeLoop(closing),
  abortLoops: (session: string, loopIds: readonly string[], atMs: number) =>
    abortLoops(session, loopIds, atMs),
  openEvaluation: (opening: EvaluationOpening) => openEvaluation(opening),
  warnOfEvaluation: (evaluation: string, warning: string) => warnOfEvaluation(evaluation, warning),
  closeEvaluation: (closing: EvaluationClosing) => closeEvaluation(closing),
  rekey: (to: string | null, cursor?: RekeyCursor) => rekey(to, cursor),
  fork: (asked: ForkAsked) => fork(asked),
  rewind: (asked: RewindAsked) => rewind(asked),
  followSession: (following: SessionFollowing) => followSession(following),
  rotateSession: (rotation: SessionRotation) => rotateSession(rotation),
  keepSnapshot: (snapshot: NewSnapshot) => keepSnapshot(snapshot),
  bequeath: (session: string) => bequeath(session),
  importLines: (token: string, lines: readonly BodyLine[], atMs: number) => importLines(token, lines, atMs),
  finishImport: (token: string, sessions: readonly string[], digest: string) =>
    finishImport(token, sessions, digest),
  edit: (change: Edit) => edit(change),
  setScope: (session: string, scope: "ephemeral" | "persistent") => setScope(session, scope),
  beginDelete: (session: string, seen?: SeenAtRest | undefined) => beginDelete(session, seen),
  deletePage: (session: string, atMs: number) => deletePage(session, atMs),
  nameText: (owner: string, hash: string) => nameText(owner, hash),
  sweepTexts: (atMs: number, limit: number) => sweepTexts(atMs, limit),
  fillSearch: (limit: number) => fillSearch(limit),
  signIn: (process: WorkerProcess) => signIn(process),
  signOut: (processId: string) => signOut(processId),
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
export type OperationArguments<Name extends OperationName> = Parameters<Operations[Name]>;
export type OperationResult<Name extends OperationName> =
  ReturnType<Operations[Name]> extends Work<infer Result> ? Result : never;

export function operation(name: OperationName, values: readonly unknown[]): Work<unknown> {
  const begin = OPERATIONS[name] as (...values: readonly unknown[]) => Work<unknown>;
  return begin(...values);
}
