/** One line of a comparison: in both texts, only in the first or only in the second; or a number of omitted lines. */
export type LineChange =
  | { readonly type: "same" | "removed" | "added"; readonly text: string }
  | { readonly type: "skipped"; readonly lines: number };

/** The number of unchanged lines displayed around a change. */
const CONTEXT_LINES = 3;
/** The maximum number of table cells. Above it, the differing part is displayed as one replacement. */
const MAX_CELLS = 1_000_000;

type Line = Extract<LineChange, { readonly text: string }>;

/** Compares two texts by line, and keeps a few unchanged lines around each change. */
export function diffLines(before: string, after: string): readonly LineChange[] {
  return collapseUnchanged(compareLines(before, after));
}

/** Returns all lines in order. Without the added lines they are the first text, without the removed ones the second. */
export function compareLines(before: string, after: string): readonly Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const least = Math.min(old.length, now.length);
  let head = 0;
  while (head < least && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < least - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  return [
    ...toLines("same", old.slice(0, head)),
    ...diffMiddle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...toLines("same", old.slice(old.length - tail)),
  ];
}

/** Compares by the longest common subsequence. */
function diffMiddle(old: readonly string[], current: readonly string[]): readonly Line[] {
  if (old.length * current.length > MAX_CELLS)
    return [...toLines("removed", old), ...toLines("added", current)];
  const width = current.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const indexOfCell = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = current.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        old[row] === current[column]
          ? indexOfCell(row + 1, column + 1) + 1
          : Math.max(indexOfCell(row + 1, column), indexOfCell(row, column + 1));
    }
  }
  const found: Line[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < current.length) {
    if (old[row] === current[column]) {
      found.push({ type: "same", text: old[row] as string });
      row += 1;
      column += 1;
    } else if (indexOfCell(row + 1, column) >= indexOfCell(row, column + 1)) {
      found.push({ type: "removed", text: old[row] as string });
      row += 1;
    } else {
      found.push({ type: "added", text: current[column] as string });
      column += 1;
    }
  }
  return [...found, ...toLines("removed", old.slice(row)), ...toLines("added", current.slice(column))];
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
