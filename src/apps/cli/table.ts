import { stripPaint } from "./palette.ts";

/** Formats rows in columns that are as wide as their widest cell. */
export function formatTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, stripPaint(cell).length);
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - stripPaint(cell).length))
      .join("  ")
      .trimEnd(),
  );
}
