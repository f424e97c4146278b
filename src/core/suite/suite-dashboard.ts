import type { SuiteControl } from "../../schema/suite.ts";
import { formatDollars } from "../budget/limits.ts";

/** What the workflow of a suite knows of its progress. */
export type SuiteProgress = SuiteControl & {
  readonly run: string;
  readonly pending: number;
  readonly finished: number;
  readonly failed: number;
  /** The parts that work side by side. */
  readonly parts: number;
  /** `null` if a price is unknown. */
  readonly spentUsd: number | null;
};

/** Formats the progress of a suite for an operator in the Temporal UI: Markdown. */
export function formatSuiteDashboard(progress: SuiteProgress): string {
  const { run, state, concurrency, maxCostUsd, pending, finished, failed, parts, spentUsd } = progress;
  const budget = maxCostUsd === null ? "" : ` of ${formatDollars(maxCostUsd)}`;
  const lines: readonly (readonly [string, string])[] = [
    ["Status", `**${state}**`],
    ["Cells", `${finished} finished, ${failed} failed, ${pending} pending`],
    ["Working", `${parts} parts, ${concurrency} cells side by side`],
    ["Cost", `${formatDollars(spentUsd)}${budget}`],
  ];
  return [
    ...lines.map(([name, value]) => `- **${name}**: ${value}`),
    "",
    `\`holdfast eval status ${run}\` shows the scores.`,
  ].join("\n");
}
