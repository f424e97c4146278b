import type { ViewSnapshot } from "../../../core/view/view.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { BranchLine } from "../../../schema/export-line.ts";
import { findBranch, readBranch } from "./branches.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData } from "./encrypted-columns.ts";
import { readViewBefore } from "./loop-views.ts";
import { all, get, type Work } from "./statement.ts";
import { listViewTexts, readViews } from "./view-texts.ts";

export type BranchPlan = { readonly ref: number; readonly from: number; readonly line: BranchLine };

type BranchRow = {
  ref: number;
  session: string;
  id: string;
  parent: number | null;
  position: number;
  run: string | null;
  length: number;
  requested_at_ms: number | null;
  inherited_view: string | null;
};

const BRANCH =
  "SELECT ref, session, id, parent, position, run, length, requested_at_ms, inherited_view FROM branches";

type FoundBranches = {
  readonly rows: ReadonlyMap<number, BranchRow>;
  /** The view at the start of each branch that begins in another session. */
  readonly views: ReadonlyMap<number, ViewSnapshot>;
  /** The end up to which a branch is read for texts that views contain. */
  readonly visible: ReadonlyMap<number, number>;
};

/**
 * Plans the branches of a session, parents before children. A branch of another session is included under a qualified
 * name, and only as far as it is needed, so that an import of the session is self-contained.
 */
export function* planBranches(session: string): Work<readonly BranchPlan[]> {
  const own = yield* all<BranchRow>(`${BRANCH} WHERE session = ? ORDER BY ref`, session);
  const rows = new Map(own.map((row) => [row.ref, row]));
  const views = new Map<number, ViewSnapshot>();
  for (const { ref, parent, position } of own) {
    if (parent === null || rows.has(parent)) continue;
    const view = yield* readViewBefore(yield* readBranch(ref), position);
    if (view !== undefined) views.set(ref, view);
  }
  const visible = new Map<number, number>();
  const inheritedViewOf = own.flatMap((row) => readInheritedView(row) ?? []);
  const found = [...views.values(), ...inheritedViewOf, ...(yield* readViews(session))];
  for (const { branch: id, position } of found.flatMap(listViewTexts)) {
    if (id === undefined || !id.includes("/")) continue;
    const branch = yield* findBranch(session, id);
    if (branch === undefined || branch.session === session) continue;
    rows.set(branch.ref, yield* readRow(branch.ref));
    visible.set(branch.ref, Math.max(visible.get(branch.ref) ?? 0, position + 1));
  }
  for (const row of [...rows.values()]) {
    for (let at = row.parent; at !== null && !rows.has(at); ) {
      const parent: BranchRow = yield* readRow(at);
      rows.set(parent.ref, parent);
      at = parent.parent;
    }
  }
  return orderBranches(session, { rows, views, visible });
}

function* readRow(ref: number): Work<BranchRow> {
  return (yield* get<BranchRow>(`${BRANCH} WHERE ref = ?`, ref))!;
}

function readInheritedView(row: BranchRow): ViewSnapshot | undefined {
  const stored = decryptColumn(
    row,
    "inherited_view",
    buildAssociatedData("branches.inherited_view", [row.session, row.id]),
  );
  return stored === null ? undefined : (JSON.parse(stored) as ViewSnapshot);
}

/** Orders branches. A child was created after its parent, so its number is higher. */
function orderBranches(session: string, { rows, views, visible }: FoundBranches): readonly BranchPlan[] {
  const isOwn = (row: BranchRow) => row.session === session;
  const needed = new Map(visible);
  for (const { parent, position } of rows.values()) {
    if (parent !== null) needed.set(parent, Math.max(needed.get(parent) ?? 0, position));
  }
  const planned = new Map<number, BranchPlan>();
  for (const row of [...rows.values()].sort((one, other) => one.ref - other.ref)) {
    const parent = row.parent === null ? undefined : planned.get(row.parent)?.line;
    const view = views.get(row.ref) ?? readInheritedView(row);
    const reached = parent !== undefined && parent.length < row.position ? parent.length : row.length;
    planned.set(row.ref, {
      ref: row.ref,
      from: row.parent === null ? 0 : row.position,
      line: {
        type: "branch",
        session,
        id: isOwn(row) ? row.id : `${row.session}/${row.id}`,
        ...(parent === undefined ? {} : { parent: { branch: parent.id, position: row.position } }),
        ...(row.parent === null && row.position > 0 ? { position: row.position } : {}),
        ...(row.run === null ? {} : { run: row.run }),
        ...(row.requested_at_ms === null ? {} : { requestedAtMs: row.requested_at_ms }),
        ...omitUndefined({ inheritedView: view }),
        length: isOwn(row) ? reached : Math.min(reached, needed.get(row.ref) ?? 0),
      },
    });
  }
  return [...planned.values()];
}
