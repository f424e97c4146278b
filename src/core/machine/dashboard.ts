import { truncateForPreview } from "../../platform/text/preview.ts";
import { budgetLine } from "../budget/budget-shown.ts";
import { dollars } from "../budget/limits.ts";
import type { Cost } from "../budget/usage.ts";
import { type ChildRow, type ChildrenShown, costBelow } from "./children-shown.ts";
import type { State } from "./state/state.ts";
import { statusOf } from "./status.ts";

/** Eleven rows and a few sub-agents stay under 4 KiB. */
const ROW_BYTES = 350;
const MAX_CHILDREN = 5;

/** The run as an operator reads it in the Temporal UI: Markdown, under 4 KiB (the server's bound is 20,000 bytes). */
export function dashboard(state: State): string {
  const status = statusOf(state);
  const isWordless = state.words === "none";
  const limit = state.pinned?.limits.maxTurns;
  const rows = [
    ["Status", `**${status.status}** · ${status.doing}`],
    ...(isWordless ? [] : [["Goal", status.goal || "none yet"] as const]),
    ["Agent", status.agent ?? "not opened yet"],
    ["Model", status.model ?? "not opened yet"],
    ["Turns", `${status.turns}${limit == null ? "" : ` of ${limit} a loop`}`],
    ["Cost", `${dollars(status.costUsd)}${ofChildren(costBelow(state))}`],
    ...(status.budget === undefined ? [] : [["Budget", budgetLine(status.budget)] as const]),
    ["Context", `about ${status.contextTokens} tokens`],
    ["Queued", `${status.queued.steering} steering, ${status.queued.followUps} follow-up`],
    ...(isWordless ? [] : [["Last words", status.lastText || "none yet"] as const]),
    ...(status.children === undefined ? [] : [["Sub-agents", inNumbers(status.children)] as const]),
  ] as const;
  const children = status.children?.rows.slice(0, MAX_CHILDREN) ?? [];
  return [
    ...rows.map(([name, value]) => `- **${name}**: ${oneLine(value)}`),
    ...children.map((row) => `  - ${oneLine(childLine(row))}`),
  ].join("\n");
}

export function inNumbers({ running, over }: ChildrenShown): string {
  return `${running} at work, ${over} over`;
}

export function childLine({ agent, status, task, session }: ChildRow): string {
  return `${agent} (${status})${task === "" ? "" : `: ${task}`} · ${session}`;
}

function ofChildren(costUsd: Cost): string {
  return costUsd === 0 ? "" : `, ${dollars(costUsd)} of it by sub-agents`;
}

function oneLine(text: string): string {
  return truncateForPreview(text.replace(/\s+/g, " "), ROW_BYTES);
}
