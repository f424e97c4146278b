import type { ChangedCase, RunComparison } from "../../../client/index.ts";
import type { Context } from "../context.ts";
import { type Column, formatColumns } from "../table.ts";
import { formatCount, shortenText } from "../text.ts";
import { formatComparisons, getTableWidth } from "./report-view.ts";

const MAX_ID_CHARS = 60;

/** Formats what has changed between two runs: tests of the scores, then case by case. */
export function formatRunComparison(
  context: Context,
  comparison: RunComparison,
  maxCases: number,
): readonly string[] {
  const { changed, changedCount, comparisons } = comparison;
  const cases = changed.slice(0, maxCases);
  return [
    ...formatComparisons(context, comparisons),
    "",
    context.out.bold(
      changedCount === 0
        ? "No case has changed."
        : `${formatCount(changedCount, "case score")} changed, the largest change first:`,
    ),
    ...(cases.length === 0 ? [] : formatCases(context, cases)),
    ...(cases.length < changedCount ? [context.out.dim(`… and ${changedCount - cases.length} more`)] : []),
  ];
}

function formatCases(context: Context, cases: readonly ChangedCase[]): readonly string[] {
  const columns: readonly Column<ChangedCase>[] = [
    { head: "CASE", read: ({ caseId }) => shortenText(caseId, MAX_ID_CHARS) },
    {
      head: "CONFIGURATION",
      read: ({ configuration }) => shortenText(configuration, MAX_ID_CHARS),
      isFlexible: true,
    },
    { head: "SCORE", read: ({ score }) => score, rank: 1 },
    { head: "BEFORE", read: ({ before }) => before.toFixed(3) },
    { head: "AFTER", read: ({ after }) => after.toFixed(3) },
    { head: "CHANGE", read: ({ before, after }) => paintChange(context, after - before), rank: 2 },
  ];
  return formatColumns(columns, cases, getTableWidth(context));
}

function paintChange({ out }: Context, change: number): string {
  return change > 0 ? out.green(`+${change.toFixed(3)}`) : out.red(change.toFixed(3));
}

/** Lists what keeps the runs from being comparable as a whole. */
export function listComparisonNotes(comparison: RunComparison): readonly string[] {
  const { cases, configurationsOnlyA, configurationsOnlyB, scores, scoresOnlyA, scoresOnlyB } = comparison;
  const changed = scores.filter((score) => score.changed).map(({ name }) => name);
  const list = (what: string, run: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`Only the ${run} run has the ${what} ${names.join(", ")}.`];
  return [
    ...describeUnmatched(cases.onlyA, "first", "second"),
    ...describeUnmatched(cases.onlyB, "second", "first"),
    ...list("configuration", "first", configurationsOnlyA),
    ...list("configuration", "second", configurationsOnlyB),
    ...list("score", "first", scoresOnlyA),
    ...list("score", "second", scoresOnlyB),
    ...(changed.length === 0
      ? []
      : [
          `The scorer of ${changed.join(", ")} has changed between the runs: so may its scores for the same answers.`,
        ]),
  ];
}

function describeUnmatched(cases: number, run: string, other: string): readonly string[] {
  if (cases === 0) return [];
  return [
    `${formatCount(cases, "case")} of the ${run} run ${cases === 1 ? "is" : "are"} not in the ${other}.`,
  ];
}
