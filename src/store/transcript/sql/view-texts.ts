import type { ViewSnapshot } from "../../../core/view/view.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData } from "./encrypted-columns.ts";
import { all, type Work } from "./statement.ts";

/** A text that replaces entries in a view, and its branch if that is another one. */
export type ViewText = { readonly branch?: string; readonly position: number };

export function listViewTexts({ spans }: ViewSnapshot): readonly ViewText[] {
  return spans.flatMap(({ replacement, memos = [] }) => [
    ...(replacement === undefined ? [] : [replacement]),
    ...memos,
  ]);
}

/** Reads the views that the loops of a session have stored. */
export function* readViews(session: string): Work<readonly ViewSnapshot[]> {
  const rows = yield* all<{ loop_id: string; view: string }>(
    "SELECT loop_id, view FROM loops WHERE session = ? AND view IS NOT NULL",
    session,
  );
  return rows.map(
    (row) =>
      JSON.parse(
        decryptColumn(row, "view", buildAssociatedData("loops.view", [row.loop_id])),
      ) as ViewSnapshot,
  );
}
