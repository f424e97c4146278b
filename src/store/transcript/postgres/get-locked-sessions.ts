import type { BodyLine } from "../../../schema/export-line.ts";
import type { OperationArguments, OperationName } from "../sql/operations.ts";

type LockedSessions = readonly string[] | "everything";
type Sessions = { readonly [Name in OperationName]: (...values: OperationArguments<Name>) => LockedSessions };

/**
 * The sessions that an operation writes to. It locks them until its commit, so that it sees what a single writer
 * would see.
 *
 * An operation that determines its sessions only while it runs locks everything, so that no other operation writes at the
 * same time. Operations without sessions are single statements, or write only rows that are written once under their hash.
 */
const SESSIONS: Sessions = {
  saveDefinition: () => [],
  acceptDefinition: () => [],
  putText: () => [],
  putParts: () => [],
  openLoop: ({ step }) => [step.session],
  claim: ({ session }) => [session],
  release: ({ session }) => [session],
  setProcessGroup: ({ session }) => [session],
  setNote: ({ session }) => [session],
  store: ({ step }) => [step.session],
  storeInbox: ({ step }) => [step.session],
  storeDefinition: ({ step }) => [step.session],
  setDefinition: (session) => [session],
  closeLoop: ({ step }) => [step.session],
  abortLoops: (session) => [session],
  openEvaluation: ({ step }) => [step.session],
  setEvaluationWarning: () => [],
  closeEvaluation: ({ step }) => [step.session],
  fork: ({ session, into }) => (into === undefined ? [session] : [session, into]),
  rewind: ({ session }) => [session],
  followSession: ({ id, previous }) => [id, previous],
  rotateSession: () => "everything",
  saveSnapshot: ({ session }) => [session],
  detachForks: () => "everything",
  importLines: (_, lines) => listSessions(lines),
  finishImport: (_, sessions) => sessions,
  edit: ({ session }) => [session],
  setScope: (session) => [session],
  setTitle: (session) => [session],
  storeTitle: ({ step }) => [step.session],
  beginDelete: () => "everything",
  deletePage: () => "everything",
  addTextOwner: () => [],
  releaseTexts: () => "everything",
  sweepTexts: () => "everything",
  fillSearchIndex: () => [],
  // Each row is compared before it is set.
  rekey: () => [],
  registerProcess: () => [],
  unregisterProcess: () => [],
  createSuiteRun: ({ id }) => [formatRunLock(id)],
  addSuiteCases: (run) => [formatRunLock(run)],
  addSuiteCells: (run) => [formatRunLock(run)],
  markReusedCells: (run) => [formatRunLock(run)],
  startSuiteRun: (run) => [formatRunLock(run)],
  controlSuiteRun: (run) => [formatRunLock(run)],
  setSuiteStatus: (run) => [formatRunLock(run)],
  retryFailedCells: (run) => [formatRunLock(run)],
  deleteSuiteRunPage: (run) => [formatRunLock(run)],
  // A claim is taken by one statement.
  claimCells: () => [],
  renewClaims: () => [],
  releaseClaims: () => [],
  giveRunToCell: (run) => [formatRunLock(run)],
  finishCell: ({ cell }) => [formatCellLock(cell)],
  recordAnsweredCell: ({ cell, opening }) => [formatCellLock(cell), opening.step.session],
  addScores: (_run, _number, cell) => [formatCellLock(cell)],
  touchAnswers: () => [],
  putAnswer: () => [],
  pruneAnswers: () => [],
};

const formatRunLock = (run: string) => `suite-run/${run}`;
/** The results of a cell are shared by runs. Cells of one run do not wait for each other. */
const formatCellLock = (cell: string) => `suite-cell/${cell}`;

/** Lists the sessions of lines. Events contain only their loop; no other process writes to a loop that is being imported. */
function listSessions(lines: readonly BodyLine[]): readonly string[] {
  const names = lines.flatMap((line) =>
    line.type === "session" ? [line.id] : "session" in line ? [line.session] : [],
  );
  return [...new Set(names)];
}

export function getLockedSessions(name: OperationName, values: readonly unknown[]): LockedSessions {
  return (SESSIONS[name] as (...values: readonly unknown[]) => LockedSessions)(...values);
}
