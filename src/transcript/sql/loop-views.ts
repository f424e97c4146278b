import type { LeftView } from "../../core/view.ts";
import { type Branch, branchAt, tokensBefore } from "./branches.ts";
import { placeOf, secret } from "./private.ts";
import { exec, get, json, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";

/** What a loop that was closed leaves of its branch up to `to`; without a view, all of it. */
export type LoopView = {
  readonly branch: string;
  readonly to: number;
  readonly view?: LeftView | undefined;
};

export function* keepView(loopId: string, { branch, to, view }: LoopView): Work<void> {
  yield* exec(
    "UPDATE loops SET end_branch = ?, end_position = ?, view = ? WHERE loop_id = ?",
    branch,
    to,
    secret(view === undefined ? null : json(view), "loops.view", loopId),
    loopId,
  );
}

/**
 * What the newest loop that was closed at or before `from` has left; what came after it is shown whole. Nothing when
 * everything is.
 */
export function* viewBefore(session: string, branch: Branch, from: number): Work<LeftView | undefined> {
  const left = yield* leftBefore(session, branch, from);
  if (left === undefined) return undefined;
  const text = wordsIn(left, "view", placeOf("loops.view", [left.loop_id]));
  if (text === null) return undefined;
  const view = JSON.parse(text) as LeftView;
  if (left.end_position === from) return view;
  const tokens = (yield* tokensBefore(branch, from)) - (yield* tokensBefore(branch, left.end_position));
  return { ...view, spans: [...view.spans, { from: left.end_position, to: from, turns: 1, tokens }] };
}

type Left = { readonly loop_id: string; readonly end_position: number; readonly view: string | null };

function* leftBefore(session: string, branch: Branch, from: number): Work<Left | undefined> {
  const left = yield* get<Left>(
    `SELECT loop_id, end_position, view FROM loops WHERE session = ? AND end_branch = ? AND end_position <= ?
     ORDER BY end_position DESC, ref DESC LIMIT 1`,
    session,
    branch.id,
    from,
  );
  if (left !== undefined || branch.parent === null) return left;
  return yield* leftBefore(session, yield* branchAt(branch.parent), Math.min(from, branch.position));
}
