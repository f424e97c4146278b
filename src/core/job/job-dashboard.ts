import { truncateForPreview } from "../../platform/text/preview.ts";
import { formatDollars } from "../budget/limits.ts";
import { formatBudget } from "../budget/loop-budget.ts";
import type { JobStatus, PartStatus } from "./job-status.ts";

/** The maximum number of rows of parts. */
export const MOST_ROWS = 40;
const ROW_BYTES = 350;
const CELL_BYTES = 64;

type Line = readonly [name: string, value: string];
type Column = readonly [title: string, cell: (part: PartStatus) => string];

const COLUMNS: readonly Column[] = [
  ["part", ({ name }) => name],
  ["agent", ({ agent }) => agent],
  ["model", ({ model }) => model ?? ""],
  ["task", ({ task }) => task ?? ""],
  ["status", ({ status }) => status],
  ["turns", ({ turns }) => String(turns)],
  ["cost", ({ costUsd }) => formatDollars(costUsd)],
];

/**
 * Formats the job for an operator in the Temporal UI: Markdown, under the 20,000 bytes that the server accepts.
 *
 * @param more - Lines of the job's mode: a name and a text.
 */
export function jobDashboard(
  { status, statusText, goal, turns, costUsd, budget, job }: JobStatus,
  more: readonly Line[] = [],
): string {
  const { counts, parts } = job;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const lines: readonly Line[] = [
    ["Status", `**${status}** · ${statusText}`],
    ["Mode", job.mode],
    ...more,
    ["Goal", goal || "none"],
    ...(job.rounds === undefined ? [] : [["Rounds", `${job.rounds}`] as const]),
    ["Turns", `${turns}`],
    ["Cost", formatDollars(costUsd)],
    ...(budget === undefined ? [] : [["Budget", formatBudget(budget) || "without limit"] as const]),
    ["Parts", countsInWords(counts)],
  ];
  const rows = parts.slice(0, MOST_ROWS);
  const over = total - rows.length;
  return [
    ...lines.map(([name, value]) => `- **${name}**: ${oneLine(value, ROW_BYTES)}`),
    ...(rows.length === 0 ? [] : ["", ...formatTable(rows)]),
    ...(over > 0 ? ["", `and ${over} more`] : []),
  ].join("\n");
}

/** Formats the counts: `2 running, 5 completed`. */
function countsInWords(counts: JobStatus["job"]["counts"]): string {
  const said = Object.entries(counts).filter(([, count]) => count > 0);
  return said.map(([word, count]) => `${count} ${word}`).join(", ") || "none";
}

/** Formats the parts as a table, without the columns that would be empty. */
function formatTable(parts: readonly PartStatus[]): readonly string[] {
  const columns = COLUMNS.filter(([, cell]) => parts.some((part) => cell(part) !== ""));
  return [
    tableRow(columns.map(([title]) => title)),
    tableRow(columns.map(() => "---")),
    ...parts.map((part) => tableRow(columns.map(([, cell]) => oneLine(cell(part), CELL_BYTES)))),
  ];
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "/")).join(" | ")} |`;
}

function oneLine(text: string, bytes: number): string {
  return truncateForPreview(text.replace(/\s+/g, " "), bytes);
}
