import type { ViewSnapshot } from "../../../core/view/view.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { type BranchRow, countTokensBefore, readBranch } from "./branches.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { exec, get, json, type Work } from "./statement.ts";

/** The view that a closed loop stores of its branch up to `to`; without a view, the whole branch. */
export type LoopView = {
  readonly branch: string;
  readonly to: number;
  readonly view?: ViewSnapshot | undefined;
};

export function* saveView(loopId: string, { branch, to, view }: LoopView): Work<void> {
  yield* exec(
    "UPDATE loops SET end_branch = ?, end_position = ?, view = ? WHERE loop_id = ?",
    branch,
    to,
    markForEncryption(view === undefined ? null : json(view), "loops.view", loopId),
    loopId,
  );
}

/**
 * Reads the view of the newest loop that was closed at or before `from`; later entries are complete. Returns undefined if
 * all entries are complete.
 */
export function* readViewBefore(branch: BranchRow, from: number): Work<ViewSnapshot | undefined> {
  const stored = yield* readStoredViewBefore(branch, from);
  if (stored === undefined || stored.view === null) return undefined;
  const own = JSON.parse(stored.view) as ViewSnapshot;
  const view = stored.session === branch.session ? own : qualifyView(own, stored.session);
  if (stored.end_position === from) return view;
  const tokens =
    (yield* countTokensBefore(branch, from)) - (yield* countTokensBefore(branch, stored.end_position));
  return { ...view, spans: [...view.spans, { from: stored.end_position, to: from, turns: 1, tokens }] };
}

type StoredView = {
  readonly session: string;
  readonly end_position: number;
  readonly view: string | null;
};

function* readStoredViewBefore(branch: BranchRow, from: number): Work<StoredView | undefined> {
  const stored = yield* get<StoredView & { readonly loop_id: string }>(
    `SELECT loop_id, session, end_position, view FROM loops WHERE session = ? AND end_branch = ? AND end_position <= ?
     ORDER BY end_position DESC, ref DESC LIMIT 1`,
    branch.session,
    branch.id,
    from,
  );
  if (stored !== undefined) {
    return {
      ...stored,
      view: decryptColumn(stored, "view", buildAssociatedData("loops.view", [stored.loop_id])),
    };
  }
  const loopRow = yield* readInheritedView(branch, from);
  if (loopRow !== undefined || branch.parent === null) return loopRow;
  return yield* readStoredViewBefore(yield* readBranch(branch.parent), Math.min(from, branch.position));
}

/** Reads the view of a branch that began in a session that was deleted or not imported. */
function* readInheritedView(
  { ref, id, session, position }: BranchRow,
  from: number,
): Work<StoredView | undefined> {
  if (position === 0 || position > from) return undefined;
  const row = yield* get<{ view: string | null }>(
    "SELECT inherited_view AS view FROM branches WHERE ref = ?",
    ref,
  );
  if (row === undefined) return undefined;
  const view = decryptColumn(row, "view", buildAssociatedData("branches.inherited_view", [session, id]));
  return view === null ? undefined : { session, end_position: position, view };
}

/** Qualifies the view's texts: they are on branches of the session in which the view was created. */
function qualifyView(view: ViewSnapshot, session: string): ViewSnapshot {
  const qualify = <Text extends { readonly branch?: string }>(text: Text): Text =>
    text.branch === undefined || text.branch.includes("/")
      ? text
      : { ...text, branch: `${session}/${text.branch}` };
  const spans = view.spans.map((span) => ({
    ...span,
    ...(span.replacement === undefined ? {} : { replacement: qualify(span.replacement) }),
    ...omitUndefined({ memos: span.memos?.map(qualify) }),
  }));
  return { ...view, spans };
}
