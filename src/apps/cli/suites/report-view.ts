import type { ConfigurationReport, ScoreComparison, SuiteReport } from "../../../client/index.ts";
import type { Context } from "../context.ts";
import { type Column, formatColumns } from "../table.ts";
import { describeCost, formatCostCell, formatCount, shortenText } from "../text.ts";
import { formatDifference, formatEstimate, formatScore } from "./score-text.ts";
import { formatPValue } from "./thresholds.ts";

const MAX_NAME_CHARS = 60;
/** The usual width of a terminal that does not report one. */
const DEFAULT_WIDTH = 80;

/** Returns the width that a table may have: that of the terminal, or any. */
export function getTableWidth({ streams }: Context): number {
  const { stdout } = streams;
  return stdout.isTTY === true ? (stdout.columns ?? DEFAULT_WIDTH) : Number.MAX_SAFE_INTEGER;
}

/** Formats the configurations with their scores and costs, the failures, and the comparisons. */
export function formatReport(context: Context, report: SuiteReport): readonly string[] {
  return [
    ...formatConfigurations(report, getTableWidth(context)),
    ...addHeading(context, "Pass rates of repetitions", formatPassRates(report)),
    ...addHeading(context, "Failures", formatFailures(report)),
    ...addHeading(
      context,
      "Comparisons (p adjusted by Holm's method)",
      formatComparisons(context, report.comparisons),
    ),
  ];
}

function addHeading({ out }: Context, heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", out.bold(heading), ...lines];
}

/** Formats the table by configuration: each score has a column with its mean and interval. */
export function formatConfigurations(
  { configurations }: Pick<SuiteReport, "configurations">,
  width: number,
): readonly string[] {
  const scores = configurations[0]?.scores ?? [];
  const columns: readonly Column<ConfigurationReport>[] = [
    { head: "CONFIGURATION", read: ({ name }) => shortenText(name, MAX_NAME_CHARS), isFlexible: true },
    ...scores.map(({ name }, index) => ({
      head: name.toUpperCase(),
      read: ({ scores: own }: ConfigurationReport) => {
        const one = own[index];
        return one === undefined ? "" : formatEstimate(one.type, one.mean, one.interval);
      },
      // The first score is the main one.
      ...(index === 0 ? {} : { rank: index + 10 }),
    })),
    { head: "FINISHED", read: ({ finished, cells }) => `${finished}/${cells}` },
    { head: "FAILED", read: ({ failed }) => (failed === 0 ? "" : String(failed)) },
    { head: "UNSCORED", read: (one) => formatNonZero(countUnscored(one)), rank: 2 },
    { head: "USD", read: ({ costUsd }) => formatCostCell(costUsd), rank: 1 },
    { head: "TURNS", read: ({ meanTurns }) => meanTurns?.toFixed(1) ?? "", rank: 4 },
    { head: "TIME", read: ({ medianDurationMs }) => formatMedian(medianDurationMs), rank: 3 },
    { head: "TOKENS", read: ({ tokens }) => formatNonZero(tokens.totalTokens), rank: 5 },
    { head: "MODEL", read: ({ model }) => shortenText(model, MAX_NAME_CHARS), rank: 6 },
  ];
  return formatColumns(columns, configurations, width);
}

function formatNonZero(number: number): string {
  return number === 0 ? "" : String(number);
}

/** Counts the verdicts that could not be read, the scorers that failed, and the cells that could not be scored. */
function countUnscored({ scores }: ConfigurationReport): number {
  return scores.reduce(
    (sum, { unreadable, failed, unscorable }) => sum + unreadable + failed + unscorable,
    0,
  );
}

function formatMedian(durationMs: number | null): string {
  return durationMs === null ? "" : formatScore("time", durationMs);
}

function formatPassRates({ configurations }: SuiteReport): readonly string[] {
  return configurations.flatMap(({ name, scores }) =>
    scores.flatMap(({ name: score, passAtK = [], passHatK = [] }) => {
      const rates = [
        ...passAtK.map(({ k, value }) => `pass@${k} ${value.toFixed(3)}`),
        ...passHatK.filter(({ k }) => k > 1).map(({ k, value }) => `pass^${k} ${value.toFixed(3)}`),
      ];
      return rates.length === 0 ? [] : [`${name} · ${score} · ${rates.join(" · ")}`];
    }),
  );
}

/** Formats the failures by class, the most frequent first, with the configurations that they belong to. */
export function formatFailures({ configurations }: Pick<SuiteReport, "configurations">): readonly string[] {
  const classes = new Map<string, { count: number; names: string[] }>();
  for (const { name, failures } of configurations) {
    for (const [failure, count] of Object.entries(failures)) {
      const entry = classes.get(failure) ?? { count: 0, names: [] };
      classes.set(failure, { count: entry.count + count, names: [...entry.names, `${name} ${count}`] });
    }
  }
  return [...classes]
    .sort(([, one], [, two]) => two.count - one.count)
    .map(([failure, { count, names }]) => `${count} × ${failure} (${names.join(", ")})`);
}

const VERDICT_COLOURS = { better: "green", worse: "red", "no difference shown": "dim" } as const;

export function formatComparisons(
  context: Context,
  comparisons: readonly ScoreComparison[],
): readonly string[] {
  if (comparisons.length === 0) return [];
  const columns: readonly Column<ScoreComparison>[] = [
    { head: "SCORE", read: ({ score }) => score },
    { head: "A", read: ({ a }) => shortenText(a, MAX_NAME_CHARS), rank: 1 },
    { head: "B", read: ({ b }) => shortenText(b, MAX_NAME_CHARS), isFlexible: true },
    { head: "B - A", read: formatChange },
    { head: "P", read: ({ adjustedPValue }) => formatPValue(adjustedPValue) },
    {
      head: "VERDICT",
      read: ({ verdict }) => context.out[VERDICT_COLOURS[verdict]](verdict),
    },
    { head: "CASES", read: ({ pairs }) => String(pairs), rank: 2 },
    { head: "TEST", read: ({ test }) => test ?? "", rank: 3 },
    { head: "EFFECT", read: ({ effectSize }) => effectSize?.toFixed(2) ?? "", rank: 4 },
  ];
  return formatColumns(columns, comparisons, getTableWidth(context));
}

function formatChange({ type, difference, interval }: ScoreComparison): string {
  const change = formatDifference(type, difference);
  return interval === null
    ? change
    : `${change} [${formatScore(type, interval.low)}, ${formatScore(type, interval.high)}]`;
}

/** Summarizes a run on one line: what became of its cells, and what it has cost. */
export function summarizeRun(report: SuiteReport): string {
  const { id, name, status, reason, cases, finished, failed, pending, cells, reused, costUsd } = report;
  const { paidUsd = null } = report;
  return [
    reason === undefined ? status : `${status}: ${reason}`,
    shortenText(name, MAX_NAME_CHARS),
    formatCount(cases, "case"),
    `${finished} of ${formatCount(cells, "cell")} finished${reused > 0 ? ` (${reused} reused)` : ""}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(pending > 0 ? [`${pending} pending`] : []),
    // Sums of the same costs in another order may differ in the last digit.
    describeCost(paidUsd) === describeCost(costUsd)
      ? describeCost(costUsd)
      : `${describeCost(paidUsd)} paid, ${describeCost(costUsd)} in all`,
    id,
  ].join(" · ");
}
