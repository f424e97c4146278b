import { StoreError } from "../store-error.ts";
import { all, get, type Work } from "./statement.ts";

// A session that is being imported or deleted has a mark, and is hidden until the operation ends.

export const DELETING = "deleting";

export const createImportMark = (token: string): string => `importing:${token}`;

export type UnfinishedSession = { readonly session: string; readonly operation: "importing" | "deleting" };

const getOperation = (hidden: string): UnfinishedSession["operation"] =>
  hidden === DELETING ? "deleting" : "importing";

/** Reads the mark of a session, or undefined if it has none or does not exist. */
export function* readMark(session: string): Work<string | undefined> {
  const row = yield* get<{ hidden: string | null }>("SELECT hidden FROM sessions WHERE id = ?", session);
  return row?.hidden ?? undefined;
}

/** Throws for a session that is being imported or deleted: nothing may be written to it. */
export function* assertVisible(session: string): Work<void> {
  const mark = yield* readMark(session);
  if (mark === undefined) return;
  const description =
    getOperation(mark) === "deleting"
      ? `is being deleted. If that was interrupted, finish it: holdfast delete ${session}`
      : `is being imported. If that was interrupted, import it again, or delete the partial import: holdfast delete ${session}`;
  throw new StoreError("other", `Session ${session} ${description}`);
}

export function* listUnfinished(): Work<readonly UnfinishedSession[]> {
  const rows = yield* all<{ id: string; hidden: string }>(
    "SELECT id, hidden FROM sessions WHERE hidden IS NOT NULL ORDER BY id",
  );
  return rows.map(({ id, hidden }) => ({ session: id, operation: getOperation(hidden) }));
}
