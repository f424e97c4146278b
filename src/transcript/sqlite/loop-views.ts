import type { LeftView } from "../../core/view.ts";
import { type Branch, branchAt, tokensBefore } from "./branches.ts";
import { json, type Sql } from "./sql.ts";

/** What a loop that was closed leaves of its branch up to `to`; without a view, all of it. */
export type LoopView = {
  readonly branch: string;
  readonly to: number;
  readonly view?: LeftView | undefined;
};

export function keepView(sql: Sql, loop: number, { branch, to, view }: LoopView): void {
  sql.run(
    "UPDATE loops SET end_branch = ?, end_position = ?, view = ? WHERE ref = ?",
    branch,
    to,
    view === undefined ? null : json(view),
    loop,
  );
}

/**
 * What the newest loop that was closed at or before `from` has left; what came after it is shown whole. Nothing when
 * everything is.
 */
export function viewBefore(sql: Sql, session: string, branch: Branch, from: number): LeftView | undefined {
  const left = leftBefore(sql, session, branch, from);
  if (left === undefined || left.view === null) return undefined;
  const view = JSON.parse(left.view) as LeftView;
  if (left.end_position === from) return view;
  const tokens = tokensBefore(sql, branch, from) - tokensBefore(sql, branch, left.end_position);
  return { ...view, spans: [...view.spans, { from: left.end_position, to: from, turns: 1, tokens }] };
}

type Left = { readonly end_position: number; readonly view: string | null };

function leftBefore(sql: Sql, session: string, branch: Branch, from: number): Left | undefined {
  const left = sql.get<Left>(
    `SELECT end_position, view FROM loops WHERE session = ? AND end_branch = ? AND end_position <= ?
     ORDER BY end_position DESC, ref DESC LIMIT 1`,
    session,
    branch.id,
    from,
  );
  if (left !== undefined || branch.parent === null) return left;
  return leftBefore(sql, session, branchAt(sql, branch.parent), Math.min(from, branch.position));
}
