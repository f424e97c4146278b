import { openAccount } from "../budget/account.ts";
import type { Allowance } from "../budget/account-state.ts";
import { buildAllowance } from "../budget/amounts.ts";
import { fillLimits } from "../budget/limits.ts";
import { addParts, type JobPart, type JobState, type PartPlan } from "../job/job.ts";
import type { ShareRequest } from "../job/parts.ts";
import type { LostPart, PartEnd } from "../machine/task.ts";
import { type BranchStatus, shortStatus, toBranchStatus } from "./branch-outcome.ts";
import type { BranchEnd, EvaluationOpenedDigest, OpenedAgent } from "./evaluation-digest.ts";

// An evaluation as a job: its parts are the branches, in the order of the configurations, followed by the judge.

const JUDGE = "judge";

type Agent = Pick<OpenedAgent, "limits" | "delegation">;

/**
 * Adds the parts, and the account that they share: each may use what its own definition allows, and all together what
 * the evaluation allows (design 3.9). The account is deep enough for anything that the parts may start.
 */
export function addBranches(state: JobState, opened: EvaluationOpenedDigest, nowMs: number): JobState {
  const limits = fillLimits(opened.limits);
  const agents = listAgents(opened);
  const depth = 1 + Math.max(...agents.map((agent) => ownAllowance(agent).depth));
  const shared = buildAllowance(limits, undefined, nowMs);
  const planned = agents.map(
    (agent, index): PartPlan => ({
      // Names count from 1.
      name: agent === opened.judge ? JUDGE : `branch-${index + 1}`,
      agent: agent.agentName,
      model: agent.model,
      loopId: agent.loopId,
      session: state.job,
    }),
  );
  return {
    ...addParts(state, planned),
    startedAtMs: nowMs,
    maxDurationMs: limits.maxDurationMs,
    account: openAccount({ ...shared, children: null, depth }),
  };
}

/** Lists the agents in the order of the parts. */
export function listAgents({ branches, judge }: EvaluationOpenedDigest): readonly OpenedAgent[] {
  return judge === undefined ? branches : [...branches, judge];
}

export function listBranches({ parts }: JobState): readonly JobPart[] {
  return parts.filter(({ name }) => name !== JUDGE);
}

export function findJudge({ parts }: JobState): JobPart | undefined {
  return parts.find(({ name }) => name === JUDGE);
}

/** Builds a part's request for `reserveShares`. */
export function shareRequest(agent: Agent, part: number): ShareRequest {
  return { part, own: ownAllowance(agent) };
}

/** Builds an agent's own allowance. Its loop measures its time, which begins with the loop and pauses for the user. */
function ownAllowance({ limits, delegation }: Agent): Allowance {
  return { ...buildAllowance(limits, delegation, 0), deadlineMs: null };
}

/** Converts the end of a part for the steps of an evaluation. */
export function buildBranchEnd(loopId: string, end: PartEnd): BranchEnd {
  const status = end.type === "lost" ? getLostStatus(end) : toBranchStatus(end.report.outcome);
  return { loopId: end.report?.loopId ?? loopId, status: shortStatus(status) };
}

/** @param lost - A run that ended without a report. */
export function getLostStatus({ reason, cause }: LostPart): BranchStatus {
  switch (cause) {
    case "taken":
      return { type: "failed", reason: "A run with the same name already exists" };
    case "not-begun":
      return { type: "stopped", reason: "It was stopped before it began" };
    case "given-up":
      return { type: "stopped", reason };
    case "ended":
      return { type: "stopped", reason: `Its run ended without a result: ${reason}` };
  }
}
