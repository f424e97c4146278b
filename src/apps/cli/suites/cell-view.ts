import type { SuiteCase, SuiteCell } from "../../../client/index.ts";
import type { Context } from "../context.ts";
import { shortenIds } from "../short-ids.ts";
import { type Column, formatColumns } from "../table.ts";
import { describeCost, formatCostCell, formatCount, shortenText } from "../text.ts";
import { getTableWidth } from "./report-view.ts";

const MAX_ID_CHARS = 60;
const MAX_TEXT_CHARS = 200;

/** Formats cells as a table: their outcomes, scores, costs and sessions. */
export function formatCells(context: Context, cells: readonly SuiteCell[]): readonly string[] {
  const shorten =
    context.streams.stdout.isTTY === true
      ? shortenIds(cells.flatMap(({ result }) => result?.session ?? []))
      : (id: string) => id;
  const scores = [...new Set(cells.flatMap((cell) => cell.scores.map(({ name }) => name)))];
  const columns: readonly Column<SuiteCell>[] = [
    { head: "CASE", read: ({ caseId }) => shortenText(caseId, MAX_ID_CHARS), isFlexible: true },
    { head: "CONFIGURATION", read: ({ configurationName }) => shortenText(configurationName, MAX_ID_CHARS) },
    { head: "REP", read: ({ repetition }) => String(repetition + 1), rank: 2 },
    { head: "STATE", read: (cell) => paintState(context, cell) },
    { head: "OUTCOME", read: ({ result }) => result?.outcome ?? "", rank: 1 },
    ...scores.map((name, index) => ({
      head: name.toUpperCase(),
      read: (cell: SuiteCell) => formatCellScore(cell, name),
      ...(index === 0 ? {} : { rank: index + 10 }),
    })),
    {
      head: "USD",
      read: ({ result }) => (result === undefined ? "" : formatCostCell(result.costUsd)),
      rank: 4,
    },
    { head: "TURNS", read: ({ result }) => String(result?.turns ?? ""), rank: 5 },
    { head: "SESSION", read: ({ result }) => shorten(result?.session ?? ""), rank: 3 },
  ];
  return formatColumns(columns, cells, getTableWidth(context));
}

const STATE_COLOURS = { finished: "green", failed: "red", pending: "dim" } as const;

function paintState({ out }: Context, { state }: SuiteCell): string {
  return out[STATE_COLOURS[state]](state);
}

function formatCellScore({ scores }: SuiteCell, name: string): string {
  const score = scores.find((one) => one.name === name)?.score;
  if (score === undefined) return "";
  return score.value === null ? score.class : formatNumber(score.value);
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

/** Formats what a case asks, and what is expected. */
export function formatCase(
  { out }: Context,
  { id, messages, files, fork, expected }: SuiteCase,
): readonly string[] {
  return [
    out.bold(`case ${shortenText(id, MAX_ID_CHARS)}`),
    ...(fork === undefined ? [] : [`  begins with session ${fork.session}`]),
    ...messages.map((message) => `  asks      ${shortenText(message, MAX_TEXT_CHARS)}`),
    ...(expected === undefined ? [] : [`  expected  ${shortenText(formatValue(expected), MAX_TEXT_CHARS)}`]),
    ...(files === undefined
      ? []
      : [`  files     ${shortenText(Object.keys(files).join(", "), MAX_TEXT_CHARS)}`]),
  ];
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Formats a cell in full: its answer's beginning, its scores with explanations, and its session. */
export function formatCellDetails(
  context: Context,
  cell: SuiteCell,
  answer: string | undefined,
): readonly string[] {
  const { configurationName, repetition, result, scores } = cell;
  const facts =
    result === undefined
      ? []
      : [result.outcome, formatCount(result.turns, "turn"), describeCost(result.costUsd)];
  return [
    context.out.bold(`${configurationName} · repetition ${repetition + 1} · `) +
      [paintState(context, cell), ...facts].join(" · "),
    ...(result?.message === undefined ? [] : [`  ${context.out.red(shortenText(result.message, 1000))}`]),
    ...(answer === undefined ? [] : [`  answers   ${shortenText(answer, MAX_TEXT_CHARS)}`]),
    ...scores.map(({ name, score }) => {
      const value = score.value === null ? score.class : formatNumber(score.value);
      const why = score.explanation === undefined ? "" : ` · ${shortenText(score.explanation, 500)}`;
      return `  ${name}  ${value}${why}`;
    }),
    ...(result?.session === undefined ? [] : [context.out.dim(`  holdfast show ${result.session}`)]),
  ];
}
