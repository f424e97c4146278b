import type { BodyLine } from "../../../schema/export-line.ts";
import type { OperationArguments, OperationName } from "../sql/operations.ts";

type LockedSessions = readonly string[] | "everything";
type Sessions = { readonly [Name in OperationName]: (...values: OperationArguments<Name>) => LockedSessions };

/**
 * The sessions that an operation writes to. It holds them until it is committed, so that it sees what a single writer
 * would see.
 *
 * One that finds out by itself which sessions it writes to holds everything: nobody writes meanwhile, as with one writer.
 * Those of no session are single statements, or have only rows that are written once under their hash.
 */
const SESSIONS: Sessions = {
  saveDefinition: () => [],
  acceptDefinition: () => [],
  putText: () => [],
  openLoop: ({ step }) => [step.session],
  claim: ({ session }) => [session],
  release: ({ session }) => [session],
  noteGroup: ({ session }) => [session],
  setNote: ({ session }) => [session],
  store: ({ step }) => [step.session],
  storeInbox: ({ step }) => [step.session],
  storeDefinition: ({ step }) => [step.session],
  setDefinition: (session) => [session],
  closeLoop: ({ step }) => [step.session],
  abortLoops: (session) => [session],
  openEvaluation: ({ step }) => [step.session],
  warnOfEvaluation: () => [],
  closeEvaluation: ({ step }) => [step.session],
  fork: ({ session, into }) => (into === undefined ? [session] : [session, into]),
  rewind: ({ session }) => [session],
  followSession: ({ id, previous }) => [id, previous],
  rotateSession: () => "everything",
  keepSnapshot: ({ session }) => [session],
  bequeath: () => "everything",
  importLines: (_, lines) => listSessionsOf(lines),
  finishImport: (_, sessions) => sessions,
  edit: ({ session }) => [session],
  setScope: (session) => [session],
  beginDelete: () => "everything",
  deletePage: () => "everything",
  nameText: () => [],
  sweepTexts: () => "everything",
  fillSearch: () => [],
  // Each row is compared before it is set.
  rekey: () => [],
  signIn: () => [],
  signOut: () => [],
};

/** Events name their loop alone; nobody else writes to a loop of a session that is being brought in. */
function listSessionsOf(lines: readonly BodyLine[]): readonly string[] {
  const names = lines.flatMap((line) =>
    line.type === "session" ? [line.id] : "session" in line ? [line.session] : [],
  );
  return [...new Set(names)];
}

export function getLockedSessions(name: OperationName, values: readonly unknown[]): LockedSessions {
  return (SESSIONS[name] as (...values: readonly unknown[]) => LockedSessions)(...values);
}
