import { type BranchRow, findBranch, findRanges, readBranch } from "./branches.ts";
import { COPY_COLUMNS } from "./conflict-forks.ts";
import { markForEncryption } from "./encrypted-columns.ts";
import { advanceEnd, readEntryRows, toEntry } from "./entries.ts";
import { readViewBefore } from "./loop-views.ts";
import { indexEntry } from "./search-index.ts";
import { copySnapshots } from "./snapshots.ts";
import { all, exec, json, type Work } from "./statement.ts";
import { listViewTexts, readViews } from "./view-texts.ts";

// Detaches the forks of a session that is to be deleted.

/** The number of messages that are in memory at once. */
const PAGE = 100;

/**
 * Copies to each fork the rows that it shows of this session, so that it is independent. Forks of forks retain the texts
 * of their views. Large messages are not copied: both sessions refer to them in `contents`.
 */
export function* detachForks(session: string): Work<number> {
  const forks = yield* findForks(session);
  const forkIds = [...forks];
  for (const fork of forkIds) {
    const isDirect = forkIds.indexOf(fork) < forks.length;
    yield* copyTexts(fork, session, (_, source) => isDirect || source.session === session);
    const below = yield* findForks(fork.session);
    forkIds.push(...below.filter(({ ref }) => forkIds.every((one) => one.ref !== ref)));
  }
  for (const fork of forks) yield* detachFork(fork);
  return forks.length;
}

/** Finds branches of other sessions that begin on a branch of this session. */
function* findForks(session: string): Work<readonly BranchRow[]> {
  const rows = yield* all<{ ref: number }>(
    `SELECT forks.ref FROM branches AS forks JOIN branches AS parents ON parents.ref = forks.parent
     WHERE parents.session = ? AND forks.session <> ? ORDER BY forks.ref`,
    session,
    session,
  );
  const forks: BranchRow[] = [];
  for (const { ref } of rows) forks.push(yield* readBranch(ref));
  return forks;
}

function* detachFork(fork: BranchRow): Work<void> {
  const view = yield* readViewBefore(fork, fork.position);
  const parent = yield* readBranch(fork.parent!);
  for (const { branch, from, to } of yield* findRanges(parent, 0, fork.position)) {
    yield* exec(
      `${COPY_COLUMNS} WHERE branch = ? AND position >= ? AND position < ?`,
      fork.ref,
      branch,
      from,
      to,
    );
  }
  yield* copySnapshots(fork);
  yield* exec(
    "UPDATE branches SET parent = NULL, length = 0, tokens = 0, inherited_view = ? WHERE ref = ?",
    markForEncryption(
      view === undefined ? null : json(view),
      "branches.inherited_view",
      fork.session,
      fork.id,
    ),
    fork.ref,
  );
  yield* advanceEnd({ ...fork, parent: null, length: 0, tokens: 0 });
  yield* indexEntriesBelow(fork.ref, fork.position);
}

/** Indexes the copied entries, so that searches find them in the fork. */
function* indexEntriesBelow(branch: number, position: number): Work<void> {
  for (let from = 0; from < position; from += PAGE) {
    const to = Math.min(position, from + PAGE);
    for (const row of yield* readEntryRows({ branch, from, to }, from, PAGE)) {
      yield* indexEntry(branch, row.position, (yield* toEntry(row, "reference")).message);
    }
  }
}

/** Copies texts in a new fork's view that its source session retains of a deleted session. */
export function* copyInheritedTexts(fork: BranchRow, from: string): Work<void> {
  yield* copyTexts(fork, from, (id, source) => source.session === from && !id.startsWith(`${from}/`));
}

type TextFilter = (id: string, source: BranchRow) => boolean;

/** Copies texts on branches of other sessions that are part of the fork's first view or of its loops' views. */
function* copyTexts(fork: BranchRow, from: string, isIncluded: TextFilter): Work<void> {
  const view = yield* readViewBefore(fork, fork.position);
  const views = yield* readViews(fork.session);
  for (const { branch: id, position } of [...views, ...(view === undefined ? [] : [view])].flatMap(
    listViewTexts,
  )) {
    if (id === undefined || !id.includes("/")) continue;
    const source = yield* findBranch(from, id);
    if (source !== undefined && isIncluded(id, source)) yield* copyText(fork.session, id, source, position);
  }
}

/** Copies a text to a branch of the same name, including all entries before it. */
function* copyText(session: string, id: string, source: BranchRow, position: number): Work<void> {
  yield* exec(
    `INSERT INTO branches (session, id, parent, position, run, length, tokens) VALUES (?, ?, NULL, 0, NULL, 0, 0)
     ON CONFLICT DO NOTHING`,
    session,
    id,
  );
  const copied = (yield* findBranch(session, id))!;
  for (const { branch, from, to } of yield* findRanges(source, copied.length, position + 1)) {
    const where = "WHERE branch = ? AND position >= ? AND position < ? ON CONFLICT DO NOTHING";
    yield* exec(`${COPY_COLUMNS} ${where}`, copied.ref, branch, from, to);
  }
  yield* advanceEnd(copied);
}
