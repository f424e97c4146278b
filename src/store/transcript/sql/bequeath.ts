import { type Branch, branchAt, findBranch, stretches } from "./branches.ts";
import { advance, entryOf, entryRows } from "./entries.ts";
import { COPY } from "./forks.ts";
import { viewBefore } from "./loop-views.ts";
import { secret } from "./private.ts";
import { indexEntry } from "./search-index.ts";
import { takeSnapshots } from "./snapshots.ts";
import { all, exec, json, type Work } from "./statement.ts";
import { leftViews, textsOf } from "./view-texts.ts";

// What becomes of sessions that have begun with a part of one that is to be deleted.

/** Messages that are held at once. */
const PAGE = 100;

/**
 * Each gets the rows of what it shows of this session, and stands alone then. Those that have begun in one of them, and
 * so on, keep the texts that their views show. Large messages are not copied: they lie in `contents`, which both name.
 */
export function* bequeath(session: string): Work<number> {
  const heirs = yield* heirsOf(session);
  const family = [...heirs];
  for (const heir of family) {
    const isDirect = family.indexOf(heir) < heirs.length;
    yield* keepTexts(heir, session, (_, source) => isDirect || source.session === session);
    const below = yield* heirsOf(heir.session);
    family.push(...below.filter(({ ref }) => family.every((one) => one.ref !== ref)));
  }
  for (const heir of heirs) yield* standAlone(heir);
  return heirs.length;
}

/** Branches of other sessions that begin on one of this session's. */
function* heirsOf(session: string): Work<readonly Branch[]> {
  const rows = yield* all<{ ref: number }>(
    `SELECT heirs.ref FROM branches AS heirs JOIN branches AS parents ON parents.ref = heirs.parent
     WHERE parents.session = ? AND heirs.session <> ? ORDER BY heirs.ref`,
    session,
    session,
  );
  const heirs: Branch[] = [];
  for (const { ref } of rows) heirs.push(yield* branchAt(ref));
  return heirs;
}

function* standAlone(heir: Branch): Work<void> {
  const view = yield* viewBefore(heir, heir.position);
  const parent = yield* branchAt(heir.parent!);
  for (const { branch, from, to } of yield* stretches(parent, 0, heir.position)) {
    yield* exec(`${COPY} WHERE branch = ? AND position >= ? AND position < ?`, heir.ref, branch, from, to);
  }
  yield* takeSnapshots(heir);
  yield* exec(
    "UPDATE branches SET parent = NULL, length = 0, tokens = 0, inherited_view = ? WHERE ref = ?",
    secret(view === undefined ? null : json(view), "branches.inherited_view", heir.session, heir.id),
    heir.ref,
  );
  yield* advance({ ...heir, parent: null, length: 0, tokens: 0 });
  yield* indexBelow(heir.ref, heir.position);
}

/** So that its words are found in it, not in the one that goes. */
function* indexBelow(branch: number, position: number): Work<void> {
  for (let from = 0; from < position; from += PAGE) {
    const to = Math.min(position, from + PAGE);
    for (const row of yield* entryRows({ branch, from, to }, from, PAGE)) {
      yield* indexEntry(branch, row.position, (yield* entryOf(row)).message);
    }
  }
}

/** What a new session's view shows of texts that the session it begins in has kept of one that is there no more. */
export function* keepHeld(heir: Branch, from: string): Work<void> {
  yield* keepTexts(heir, from, (id, source) => source.session === from && !id.startsWith(`${from}/`));
}

type Wanted = (id: string, source: Branch) => boolean;

/** Texts on branches of other sessions, of the view that it begins with and of those that its own loops have left. */
function* keepTexts(heir: Branch, from: string, isWanted: Wanted): Work<void> {
  const view = yield* viewBefore(heir, heir.position);
  const views = yield* leftViews(heir.session);
  for (const { branch: id, position } of [...views, ...(view === undefined ? [] : [view])].flatMap(textsOf)) {
    if (id === undefined || !id.includes("/")) continue;
    const source = yield* findBranch(from, id);
    if (source !== undefined && isWanted(id, source)) yield* keepText(heir.session, id, source, position);
  }
}

/** On a branch of that name, with all before. */
function* keepText(session: string, id: string, source: Branch, position: number): Work<void> {
  yield* exec(
    `INSERT INTO branches (session, id, parent, position, run, length, tokens) VALUES (?, ?, NULL, 0, NULL, 0, 0)
     ON CONFLICT DO NOTHING`,
    session,
    id,
  );
  const kept = (yield* findBranch(session, id))!;
  for (const { branch, from, to } of yield* stretches(source, kept.length, position + 1)) {
    const where = "WHERE branch = ? AND position >= ? AND position < ? ON CONFLICT DO NOTHING";
    yield* exec(`${COPY} ${where}`, kept.ref, branch, from, to);
  }
  yield* advance(kept);
}
