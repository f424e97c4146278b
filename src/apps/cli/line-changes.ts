import { diffArrays } from "./diff.ts";

/** One line of a comparison: in both texts, only in the first or only in the second; or a number of omitted lines. */
export type LineChange =
  | { readonly type: "same" | "removed" | "added"; readonly text: string }
  | { readonly type: "skipped"; readonly lines: number };

/** The number of unchanged lines displayed around a change. */
const CONTEXT_LINES = 3;
/**
 * The maximum number of removed and added lines. Above it, the differing part is displayed as one replacement: the time
 * grows with the square, to about 0.1 s here, and the texts come from a model.
 */
const MAX_EDITS = 1_000;

type Line = Extract<LineChange, { readonly text: string }>;

/** Compares two texts by line, and keeps a few unchanged lines around each change. */
export function diffLines(before: string, after: string): readonly LineChange[] {
  return collapseUnchanged(compareLines(before, after));
}

/** Returns all lines in order. Without the added lines they are the first text, without the removed ones the second. */
export function compareLines(before: string, after: string): readonly Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const changes = diffArrays(old, now, { maxEditLength: MAX_EDITS });
  if (changes === undefined) return replaceMiddle(old, now);
  return changes.flatMap(({ value, added, removed }) =>
    toLines(removed ? "removed" : added ? "added" : "same", value),
  );
}

function replaceMiddle(old: readonly string[], now: readonly string[]): readonly Line[] {
  const least = Math.min(old.length, now.length);
  let head = 0;
  while (head < least && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < least - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  return [
    ...toLines("same", old.slice(0, head)),
    ...toLines("removed", old.slice(head, old.length - tail)),
    ...toLines("added", now.slice(head, now.length - tail)),
    ...toLines("same", old.slice(old.length - tail)),
  ];
}

function collapseUnchanged(all: readonly Line[]): readonly LineChange[] {
  const near = all.map(() => false);
  for (const [index, { type }] of all.entries()) {
    if (type !== "same") near.fill(true, Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1);
  }
  const collapsed: LineChange[] = [];
  for (const [index, line] of all.entries()) {
    const last = collapsed.at(-1);
    if (near[index] === true) collapsed.push(line);
    else if (last?.type === "skipped") collapsed[collapsed.length - 1] = { ...last, lines: last.lines + 1 };
    else collapsed.push({ type: "skipped", lines: 1 });
  }
  return collapsed;
}

function toLines(type: Line["type"], texts: readonly string[]): readonly Line[] {
  return texts.map((text) => ({ type, text }));
}
