import stringWidth from "string-width";
import { stripPaint } from "./palette.ts";

const GAP = "  ";
const ELLIPSIS = "…";
/** A flexible column is not narrower than this, if other columns can be left out. */
const MIN_FLEXIBLE_WIDTH = 22;

/** A column of a table that fits into a width. */
export type Column<Row> = {
  readonly head: string;
  readonly read: (row: Row) => string;
  /** Columns of the highest rank are left out first. If absent, the column stays. */
  readonly rank?: number;
  /** Its cells are truncated to the width that the others leave. */
  readonly isFlexible?: true;
};

/** Formats rows in columns that are as wide as their widest cell. */
export function formatTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, measure(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - measure(cell)))
      .join(GAP)
      .trimEnd(),
  );
}

/**
 * Formats a table with a head in at most `width` cells of a terminal. Leaves out columns that are empty in every row, and those
 * for which there is no room.
 */
export function formatColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): readonly string[] {
  const used = columns.filter(({ read }) => rows.some((row) => read(row) !== ""));
  const fitting = dropColumns(used, rows, width);
  const rest = sum(fitting.map((column) => (column.isFlexible === true ? 0 : measureColumn(column, rows))));
  const flexibleWidth = Math.max(8, width - rest - GAP.length * (fitting.length - 1));
  const toCell = ({ isFlexible }: Column<Row>, text: string): string =>
    isFlexible === true ? truncateToWidth(text, flexibleWidth) : text;
  return formatTable([
    fitting.map(({ head }) => head),
    ...rows.map((row) => fitting.map((column) => toCell(column, column.read(row)))),
  ]);
}

function dropColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): readonly Column<Row>[] {
  const needed = sum(
    columns.map((column) => {
      const natural = measureColumn(column, rows);
      return column.isFlexible === true ? Math.min(natural, MIN_FLEXIBLE_WIDTH) : natural;
    }),
  );
  if (needed + GAP.length * (columns.length - 1) <= width) return columns;
  const highest = Math.max(...columns.map(({ rank = 0 }) => rank));
  return highest === 0
    ? columns
    : dropColumns(
        columns.filter(({ rank = 0 }) => rank !== highest),
        rows,
        width,
      );
}

/** Truncates a text without colours to so many cells of a terminal. */
export function truncateToWidth(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}${ELLIPSIS}`;
}

function measureColumn<Row>({ head, read }: Column<Row>, rows: readonly Row[]): number {
  return Math.max(measure(head), ...rows.map((row) => measure(read(row))));
}

function measure(cell: string): number {
  return stringWidth(stripPaint(cell));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
