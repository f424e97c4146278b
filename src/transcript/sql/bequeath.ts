import type { LeftView } from "../../core/view.ts";
import { type Branch, branchAt, findBranch, stretches } from "./branches.ts";
import { advance } from "./entries.ts";
import { COPY } from "./forks.ts";
import { viewBefore } from "./loop-views.ts";
import { secret } from "./private.ts";
import { all, exec, json, type Work } from "./statement.ts";

// What becomes of sessions that have begun with a part of one that is to be deleted.

/**
 * Each gets the rows of what it shows of this session, and stands alone then. Large messages are not copied: they lie in
 * `contents`, which both name.
 */
export function* bequeath(session: string): Work<number> {
  const heirs = yield* all<{ ref: number }>(
    `SELECT heirs.ref FROM branches AS heirs JOIN branches AS parents ON parents.ref = heirs.parent
     WHERE parents.session = ? AND heirs.session <> ? ORDER BY heirs.ref`,
    session,
    session,
  );
  for (const { ref } of heirs) yield* standAlone(yield* branchAt(ref), session);
  return heirs.length;
}

function* standAlone(heir: Branch, left: string): Work<void> {
  const view = yield* viewBefore(heir, heir.position);
  const parent = yield* branchAt(heir.parent!);
  for (const { branch, from, to } of yield* stretches(parent, 0, heir.position)) {
    yield* exec(`${COPY} WHERE branch = ? AND position >= ? AND position < ?`, heir.ref, branch, from, to);
  }
  yield* exec(
    "UPDATE branches SET parent = NULL, length = 0, tokens = 0, inherited_view = ? WHERE ref = ?",
    secret(view === undefined ? null : json(view), "branches.inherited_view", heir.session, heir.id),
    heir.ref,
  );
  yield* advance({ ...heir, parent: null, length: 0, tokens: 0 });
  const rows = yield* all<{ view: string }>(
    "SELECT view FROM loops WHERE session = ? AND view IS NOT NULL",
    heir.session,
  );
  const views = rows.map((row) => JSON.parse(row.view) as LeftView);
  for (const text of views.concat(view ?? []).flatMap(textsOf)) yield* keepText(heir.session, left, text);
}

type Text = { readonly branch?: string; readonly position: number };

function textsOf({ spans }: LeftView): readonly Text[] {
  return spans.flatMap(({ instead, memos = [] }) => [...(instead === undefined ? [] : [instead]), ...memos]);
}

/** A text that the view shows and that lies on a branch of the session that goes: on a branch of that name, with all before. */
function* keepText(session: string, left: string, { branch: id, position }: Text): Work<void> {
  if (id === undefined || !id.startsWith(`${left}/`)) return;
  const source = yield* findBranch(left, id.slice(left.length + 1));
  if (source === undefined) return;
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
