import { REVERT_PREFIX } from "../find-left-branches.ts";
import { hashText } from "./canonical-json.ts";
import { exec, get, type Work } from "./statement.ts";

/** A branch as the table holds it. */
export type BranchRow = {
  readonly ref: number;
  readonly session: string;
  readonly id: string;
  readonly parent: number | null;
  /** Where it leaves its parent. */
  readonly position: number;
  readonly run: string | null;
  /** End of the unbroken prefix, if its ancestors have all before `position`. */
  readonly length: number;
  /** Tokens of its own entries in that prefix. */
  readonly tokens: number;
};

const COLUMNS = "ref, session, id, parent, position, run, length, tokens";

/** By its id; a branch of another session is named `{session}/{id}`. */
export function* findBranch(session: string, id: string): Work<BranchRow | undefined> {
  const found = yield* get<BranchRow>(
    `SELECT ${COLUMNS} FROM branches WHERE session = ? AND id = ?`,
    session,
    id,
  );
  const slash = id.lastIndexOf("/");
  return found !== undefined || slash < 0
    ? found
    : yield* findBranch(id.slice(0, slash), id.slice(slash + 1));
}

export function* readBranch(ref: number): Work<BranchRow> {
  return (yield* get<BranchRow>(`SELECT ${COLUMNS} FROM branches WHERE ref = ?`, ref))!;
}

/** A branch without entries of its own yet. */
export function* createBranch(branch: {
  session: string;
  id: string;
  parent?: BranchRow;
  position: number;
  run?: string;
  askedAtMs?: number;
}): Work<BranchRow> {
  yield* exec(
    `INSERT INTO branches (session, id, parent, position, run, length, tokens, asked_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
    branch.session,
    branch.id,
    branch.parent?.ref ?? null,
    branch.position,
    branch.run ?? null,
    branch.parent === undefined ? 0 : branch.position,
    branch.askedAtMs ?? null,
  );
  return (yield* findBranch(branch.session, branch.id))!;
}

/** Where a run that met a conflict goes on: siblings of one unit have the same base, so they meet there. */
export function formatConflictBranchId(run: string, parent: string, base: number): string {
  return `fork-${hashText(JSON.stringify([run, parent, base])).slice(0, 16)}`;
}

/** Where a loop goes on that was asked to begin before the end of a branch. */
export function formatLoopBranchId(run: string, number: number, parent: string, position: number): string {
  return `loop-${hashText(JSON.stringify([run, number, parent, position])).slice(0, 16)}`;
}

/** Where a run goes on whose model has gone back, asked by the answer at `by`. */
export function formatRevertBranchId(run: string, parent: string, at: number, by: number): string {
  return `${REVERT_PREFIX}${hashText(JSON.stringify([run, parent, at, by])).slice(0, 16)}`;
}

/** The branch that a conflict has sent this run to, when it left `branch` at or before `position`. */
export function* findConflictBranch(
  branch: BranchRow,
  run: string,
  position: number,
): Work<BranchRow | undefined> {
  return yield* get<BranchRow>(
    `SELECT ${COLUMNS} FROM branches WHERE parent = ? AND run = ? AND position <= ? ORDER BY position DESC LIMIT 1`,
    branch.ref,
    run,
    position,
  );
}

/** The length that a reader may count on: an ancestor that ends early ends its descendants too. */
export function* readLength(branch: BranchRow): Work<number> {
  if (branch.parent === null) return branch.length;
  const inherited = yield* readLength(yield* readBranch(branch.parent));
  return inherited < branch.position ? inherited : branch.length;
}

/** A stretch of one branch's own entries, `to` not included. */
export type BranchRange = { readonly branch: number; readonly from: number; readonly to: number };

/** Which branches hold the positions from `from` up to `to` as seen from `branch`, in order. */
export function* findRanges(branch: BranchRow, from: number, to: number): Work<BranchRange[]> {
  const found: BranchRange[] = [];
  let current = branch;
  let end = to;
  while (from < end) {
    const start = Math.max(from, current.parent === null ? 0 : current.position);
    if (start < end) found.unshift({ branch: current.ref, from: start, to: end });
    if (current.parent === null) break;
    end = Math.min(end, current.position);
    current = yield* readBranch(current.parent);
  }
  return found;
}

/** Tokens of all entries before `position`, which must not lie beyond the branch's length. */
export function* countTokensBefore(branch: BranchRow, position: number): Work<number> {
  if (position === 0) return 0;
  if (branch.parent !== null && position <= branch.position) {
    return yield* countTokensBefore(yield* readBranch(branch.parent), position);
  }
  const own =
    position >= branch.length
      ? branch.tokens
      : ((yield* get<{ tokens_before: number | null }>(
          "SELECT tokens_before FROM entries WHERE branch = ? AND position = ?",
          branch.ref,
          position,
        ))?.tokens_before ?? 0);
  if (branch.parent === null) return own;
  return own + (yield* countTokensBefore(yield* readBranch(branch.parent), branch.position));
}
