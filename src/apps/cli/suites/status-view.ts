import type { SuiteReport, SuiteRunStatus } from "../../../client/index.ts";
import { describeCost } from "../text.ts";
import { formatTime } from "./time-text.ts";

/** Formats the status of a run: names with values. */
export function formatStatusRows(
  status: SuiteRunStatus,
): readonly (readonly [name: string, value: string])[] {
  const { id, plan, control, reason, cells, reused, finished, failed, pending, createdAtMs, endedAtMs } =
    status;
  const budget = control.maxCostUsd === null ? "" : ` of ${describeCost(control.maxCostUsd)}`;
  return [
    ["run", id],
    ["suite", plan.tags.length === 0 ? plan.name : `${plan.name} (${plan.tags.join(", ")})`],
    ["status", reason === undefined ? status.status : `${status.status}: ${reason}`],
    ["cells", `${cells}: ${finished} finished, ${failed} failed, ${pending} pending; ${reused} reused`],
    [
      "cost",
      `${describeCost(status.paidUsd)} paid${budget}, ${describeCost(status.costUsd)} with reused cells`,
    ],
    ["asks", `${control.concurrency} cells side by side`],
    ["created", formatTime(createdAtMs)],
    ...(endedAtMs === undefined ? [] : [["ended", formatTime(endedAtMs)] as const]),
  ];
}

/** Selects what `--json` prints of a status: the plan stays out, the configurations have their scores. */
export function toStatusJson(status: SuiteRunStatus, report: SuiteReport): object {
  const { plan: _plan, scorers: _scorers, ...rest } = status;
  return {
    type: "status",
    run: status.id,
    name: status.plan.name,
    tags: status.plan.tags,
    ...rest,
    configurations: report.configurations,
  };
}
