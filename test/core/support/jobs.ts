import { NO_AMOUNTS } from "../../../src/core/budget/amounts.ts";
import { NO_LIMITS } from "../../../src/core/budget/limits.ts";
import { type JobState, openJob, type PartPlan } from "../../../src/core/job/job.ts";
import { beginPart } from "../../../src/core/job/parts.ts";
import type { TaskReport } from "../../../src/core/machine/state/task.ts";
import type { PartEnd } from "../../../src/core/machine/task.ts";
import type { JobLimits } from "../../../src/schema/mode.ts";
import type { Outcome } from "../../../src/schema/record.ts";

export const ANSWERED: Outcome = { type: "answered", stopReason: "stop" };

/** A job whose parts `p0`, `p1`, ... wait. */
export function openParts(
  parts: number,
  limits: Partial<JobLimits> = {},
  more: (at: number) => Partial<PartPlan> = () => ({}),
): JobState {
  return openJob({
    job: "j",
    mode: "fan-out",
    goal: "go",
    parts: Array.from({ length: parts }, (_, at) => ({
      name: `p${at}`,
      agent: "a",
      session: `j.p${at}`,
      ...more(at),
    })),
    limits: { ...NO_LIMITS, ...limits },
    nowMs: 0,
  });
}

/** The end of a run with a report of its own. */
export function reported(turns: number, more: Partial<TaskReport> = {}): PartEnd & { type: "reported" } {
  const used = { ...NO_AMOUNTS, turns };
  const report = { session: "s", outcome: ANSWERED, branch: "main", tokens: 0, messages: 0, used };
  return { type: "reported", report: { ...report, ...more } };
}

/** Begins a part that must begin. */
export function begun(state: JobState, index: number, waiting: number, nowMs = 0) {
  const result = beginPart(state, index, waiting, nowMs);
  if (result.type === "denied") throw new Error(result.outcome.reason);
  return result;
}
