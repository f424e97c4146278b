import type { LeftView } from "../../../core/view/view.ts";
import type { BranchLine } from "../../../schema/export-line.ts";
import { branchAt, findBranch } from "./branches.ts";
import { viewBefore } from "./loop-views.ts";
import { placeOf } from "./private.ts";
import { all, get, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";
import { leftViews, textsOf } from "./view-texts.ts";

export type BranchPlan = { readonly ref: number; readonly from: number; readonly line: BranchLine };

type BranchRow = {
  ref: number;
  session: string;
  id: string;
  parent: number | null;
  position: number;
  run: string | null;
  length: number;
  asked_at_ms: number | null;
  inherited_view: string | null;
};

const BRANCH =
  "SELECT ref, session, id, parent, position, run, length, asked_at_ms, inherited_view FROM branches";

type Found = {
  readonly rows: ReadonlyMap<number, BranchRow>;
  /** What was left of the view before a branch of the session that begins in another one. */
  readonly views: ReadonlyMap<number, LeftView>;
  /** How far a branch is read on for texts that views show. */
  readonly shown: ReadonlyMap<number, number>;
};

/**
 * The branches of a session, parents before their children. One that lies in another session comes along under a name
 * that says so, and only as far as it is read on: the session stands by itself wherever it is brought to.
 */
export function* branchPlans(session: string): Work<readonly BranchPlan[]> {
  const own = yield* all<BranchRow>(`${BRANCH} WHERE session = ? ORDER BY ref`, session);
  const rows = new Map(own.map((row) => [row.ref, row]));
  const views = new Map<number, LeftView>();
  for (const { ref, parent, position } of own) {
    if (parent === null || rows.has(parent)) continue;
    const view = yield* viewBefore(yield* branchAt(ref), position);
    if (view !== undefined) views.set(ref, view);
  }
  const shown = new Map<number, number>();
  const inherited = own.flatMap((row) => inheritedView(row) ?? []);
  const found = [...views.values(), ...inherited, ...(yield* leftViews(session))];
  for (const { branch: id, position } of found.flatMap(textsOf)) {
    if (id === undefined || !id.includes("/")) continue;
    const branch = yield* findBranch(session, id);
    if (branch === undefined || branch.session === session) continue;
    rows.set(branch.ref, yield* rowAt(branch.ref));
    shown.set(branch.ref, Math.max(shown.get(branch.ref) ?? 0, position + 1));
  }
  for (const row of [...rows.values()]) {
    for (let at = row.parent; at !== null && !rows.has(at); ) {
      const parent: BranchRow = yield* rowAt(at);
      rows.set(parent.ref, parent);
      at = parent.parent;
    }
  }
  return inOrder(session, { rows, views, shown });
}

function* rowAt(ref: number): Work<BranchRow> {
  return (yield* get<BranchRow>(`${BRANCH} WHERE ref = ?`, ref))!;
}

function inheritedView(row: BranchRow): LeftView | undefined {
  const view = wordsIn(row, "inherited_view", placeOf("branches.inherited_view", [row.session, row.id]));
  return view === null ? undefined : (JSON.parse(view) as LeftView);
}

/** Who leaves a branch was begun after it, so that its number is higher. */
function inOrder(session: string, { rows, views, shown }: Found): readonly BranchPlan[] {
  const isOwn = (row: BranchRow) => row.session === session;
  const needed = new Map(shown);
  for (const { parent, position } of rows.values()) {
    if (parent !== null) needed.set(parent, Math.max(needed.get(parent) ?? 0, position));
  }
  const planned = new Map<number, BranchPlan>();
  for (const row of [...rows.values()].sort((one, other) => one.ref - other.ref)) {
    const parent = row.parent === null ? undefined : planned.get(row.parent)?.line;
    const view = views.get(row.ref) ?? inheritedView(row);
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
        ...(row.asked_at_ms === null ? {} : { askedAtMs: row.asked_at_ms }),
        ...(view === undefined ? {} : { inheritedView: view }),
        length: isOwn(row) ? reached : Math.min(reached, needed.get(row.ref) ?? 0),
      },
    });
  }
  return [...planned.values()];
}
