import type { LeftView } from "../../../core/view/view.ts";
import { placeOf } from "./private.ts";
import { all, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";

/** A text that stands for entries in a view, and the branch that it lies on where that is another one. */
export type ViewText = { readonly branch?: string; readonly position: number };

export function textsOf({ spans }: LeftView): readonly ViewText[] {
  return spans.flatMap(({ instead, memos = [] }) => [...(instead === undefined ? [] : [instead]), ...memos]);
}

/** What the loops of a session have left of their views. */
export function* leftViews(session: string): Work<readonly LeftView[]> {
  const rows = yield* all<{ loop_id: string; view: string }>(
    "SELECT loop_id, view FROM loops WHERE session = ? AND view IS NOT NULL",
    session,
  );
  return rows.map(
    (row) => JSON.parse(wordsIn(row, "view", placeOf("loops.view", [row.loop_id]))) as LeftView,
  );
}
