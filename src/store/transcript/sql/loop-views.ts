import type { LeftView } from "../../../core/view/view.ts";
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
export function* viewBefore(branch: Branch, from: number): Work<LeftView | undefined> {
  const left = yield* leftBefore(branch, from);
  if (left === undefined || left.view === null) return undefined;
  const own = JSON.parse(left.view) as LeftView;
  const view = left.session === branch.session ? own : seenFromElsewhere(own, left.session);
  if (left.end_position === from) return view;
  const tokens = (yield* tokensBefore(branch, from)) - (yield* tokensBefore(branch, left.end_position));
  return { ...view, spans: [...view.spans, { from: left.end_position, to: from, turns: 1, tokens }] };
}

type Left = {
  readonly session: string;
  readonly end_position: number;
  readonly view: string | null;
};

function* leftBefore(branch: Branch, from: number): Work<Left | undefined> {
  const left = yield* get<Left & { readonly loop_id: string }>(
    `SELECT loop_id, session, end_position, view FROM loops WHERE session = ? AND end_branch = ? AND end_position <= ?
     ORDER BY end_position DESC, ref DESC LIMIT 1`,
    branch.session,
    branch.id,
    from,
  );
  if (left !== undefined) {
    return { ...left, view: wordsIn(left, "view", placeOf("loops.view", [left.loop_id])) };
  }
  const begun = yield* inherited(branch, from);
  if (begun !== undefined || branch.parent === null) return begun;
  return yield* leftBefore(yield* branchAt(branch.parent), Math.min(from, branch.position));
}

/** Of a branch that has begun in a session which is there no more, or was not brought along. */
function* inherited({ ref, id, session, position }: Branch, from: number): Work<Left | undefined> {
  if (position === 0 || position > from) return undefined;
  const row = yield* get<{ view: string | null }>(
    "SELECT inherited_view AS view FROM branches WHERE ref = ?",
    ref,
  );
  if (row === undefined) return undefined;
  const view = wordsIn(row, "view", placeOf("branches.inherited_view", [session, id]));
  return view === null ? undefined : { session, end_position: position, view };
}

/** Texts that a model has left lie on branches of the session that the view was made in. */
function seenFromElsewhere(view: LeftView, session: string): LeftView {
  const placed = <Text extends { readonly branch?: string }>(text: Text): Text =>
    text.branch === undefined || text.branch.includes("/")
      ? text
      : { ...text, branch: `${session}/${text.branch}` };
  const spans = view.spans.map((span) => ({
    ...span,
    ...(span.instead === undefined ? {} : { instead: placed(span.instead) }),
    ...(span.memos === undefined ? {} : { memos: span.memos.map(placed) }),
  }));
  return { ...view, spans };
}
