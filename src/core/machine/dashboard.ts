import { truncateForPreview } from "../../platform/text/preview.ts";
import { formatDollars } from "../budget/limits.ts";
import { formatBudget } from "../budget/loop-budget.ts";
import type { Cost } from "../budget/usage.ts";
import { formatChild, formatChildCounts } from "./child-view.ts";
import { sumChildrenCost } from "./children-summary.ts";
import type { State } from "./state/state.ts";
import { buildStatus } from "./status.ts";

/** Keeps eleven rows and a few sub-agents under 4 KiB. */
const ROW_BYTES = 350;
const MAX_CHILDREN = 5;

/** Formats the run for an operator in the Temporal UI: Markdown, under 4 KiB (the server's bound is 20,000 bytes). */
export function formatDashboard(state: State): string {
  const status = buildStatus(state);
  const isWordless = state.redactContent === true;
  const limit = state.pinned?.limits.maxTurns;
  const rows = [
    ["Status", `**${status.status}** · ${status.statusText}`],
    ...(status.title === undefined ? [] : [["Title", status.title] as const]),
    ...(isWordless ? [] : [["Goal", status.goal || "none yet"] as const]),
    ["Agent", status.agent ?? "not open yet"],
    ["Model", status.model ?? "not open yet"],
    ...(status.sandbox === undefined ? [] : [["Sandbox", status.sandbox] as const]),
    ["Turns", `${status.turns}${limit == null ? "" : ` of ${limit} a loop`}`],
    ["Cost", `${formatDollars(status.costUsd)}${formatChildCost(sumChildrenCost(state))}`],
    ...(status.budget === undefined ? [] : [["Budget", formatBudget(status.budget)] as const]),
    ["Context", `about ${status.contextTokens} tokens`],
    ["Queued", `${status.queued.steering} steering, ${status.queued.followUps} follow-up`],
    ...(isWordless ? [] : [["Last text", status.lastText || "none yet"] as const]),
    ...(status.children === undefined ? [] : [["Sub-agents", formatChildCounts(status.children)] as const]),
  ] as const;
  const children = status.children?.rows.slice(0, MAX_CHILDREN) ?? [];
  return [
    ...rows.map(([name, value]) => `- **${name}**: ${toOneLine(value)}`),
    ...children.map((row) => `  - ${toOneLine(formatChild(row))}`),
  ].join("\n");
}

function formatChildCost(costUsd: Cost): string {
  return costUsd === 0 ? "" : `, ${formatDollars(costUsd)} of it by sub-agents`;
}

function toOneLine(text: string): string {
  return truncateForPreview(text.replace(/\s+/g, " "), ROW_BYTES);
}
