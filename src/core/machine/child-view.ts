import type { ChildrenSummary } from "./children-summary.ts";
import type { ChildRow } from "./state/ended-children.ts";

// How sub-agents are displayed: in the Temporal UI, and by `holdfast status`.

export function formatChildCounts({ running, ended }: ChildrenSummary): string {
  return `${running} running, ${ended} ended`;
}

export function formatChild({ agent, status, task, session }: ChildRow): string {
  return `${agent} (${status})${task === "" ? "" : `: ${task}`} · ${session}`;
}
