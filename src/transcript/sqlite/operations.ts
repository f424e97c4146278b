import type { AgentDefinition } from "../../schema/definition.ts";
import type { EvaluationClosing, EvaluationOpening } from "../evaluation.ts";
import type { LoopClosing, LoopOpening } from "../loop.ts";
import type { NewMessage } from "../session.ts";
import type { Step } from "../step.ts";
import type { WorkerProcess } from "../worker-process.ts";
import type { Outbox, Place, SessionDefinition, StoreWrite } from "../write.ts";
import { putContent, putText } from "./contents.ts";
import { saveDefinition, setDefinition } from "./definitions.ts";
import { closeEvaluation, openEvaluation, warnOfEvaluation } from "./evaluations.ts";
import { putInbox } from "./inbox.ts";
import { closeLoop, openLoop } from "./loops.ts";
import { signIn, signOut } from "./processes.ts";
import type { Sql } from "./sql.ts";
import { claim, noteGroup, release, setNote, store } from "./steps.ts";

/** Everything that writes, by name: what crosses to the writer's thread is a name and its arguments. */
export const OPERATIONS = {
  saveDefinition: (sql: Sql, definition: AgentDefinition) => saveDefinition(sql, definition),
  putText: (sql: Sql, text: string, atMs: number) => putText(sql, text, atMs),
  openLoop: (sql: Sql, opening: LoopOpening) => openLoop(sql, opening),
  claim: (sql: Sql, step: Step, place: Place, outbox: Outbox, atMs: number) =>
    claim(sql, step, place, outbox, atMs),
  release: (sql: Sql, step: Step) => release(sql, step),
  noteGroup: (sql: Sql, step: Step, group: { pgid: number; startTime: string }) =>
    noteGroup(sql, step, group),
  setNote: (sql: Sql, step: Step, text: string) => setNote(sql, step, text),
  store: (sql: Sql, write: StoreWrite) => store(sql, write),
  storeInbox: (sql: Sql, write: StoreWrite, messages: readonly NewMessage[]) =>
    store(sql, write, () => putInbox(sql, write.step.session, messages)),
  storeDefinition: (sql: Sql, write: StoreWrite, definition: SessionDefinition, terms: string) =>
    store(sql, write, () => {
      putContent(sql, terms);
      setDefinition(sql, write.step.session, definition);
    }),
  setDefinition: (sql: Sql, session: string, definition: SessionDefinition) =>
    setDefinition(sql, session, definition),
  closeLoop: (sql: Sql, closing: LoopClosing) => closeLoop(sql, closing),
  openEvaluation: (sql: Sql, opening: EvaluationOpening) => openEvaluation(sql, opening),
  warnOfEvaluation: (sql: Sql, evaluation: string, warning: string) =>
    warnOfEvaluation(sql, evaluation, warning),
  closeEvaluation: (sql: Sql, closing: EvaluationClosing) => closeEvaluation(sql, closing),
  signIn: (sql: Sql, process: WorkerProcess) => signIn(sql, process),
  signOut: (sql: Sql, processId: string) => signOut(sql, processId),
};

export type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
export type OperationArguments<Name extends OperationName> =
  Parameters<Operations[Name]> extends [Sql, ...infer Rest] ? Rest : never;
export type OperationResult<Name extends OperationName> = ReturnType<Operations[Name]>;

export function perform(sql: Sql, name: OperationName, values: readonly unknown[]): unknown {
  const operation = OPERATIONS[name] as (sql: Sql, ...values: readonly unknown[]) => unknown;
  return operation(sql, ...values);
}
