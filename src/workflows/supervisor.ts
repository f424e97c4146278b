import { ApplicationFailure } from "@temporalio/common";
import {
  allHandlersFinished,
  condition,
  defineQuery,
  defineUpdate,
  scheduleActivity,
  setHandler,
} from "@temporalio/workflow";
import { beginMember, LEAD_PART, openTeam, type Team } from "../core/job/team.ts";
import {
  DELEGATE_UPDATE,
  type DelegateRequest,
  type DelegateResult,
  TEAM_QUERY,
} from "../core/job/team-messages.ts";
import {
  buildTeamResult,
  buildTeamStatus,
  buildTeamView,
  type TeamResult,
  type TeamView,
} from "../core/job/team-status.ts";
import type { PartEnd } from "../core/machine/task.ts";
import type { Outcome } from "../schema/record.ts";
import { buildWriteOptions } from "./activity-options.ts";
import { buildOpening, JobRun, runAsJob } from "./job.ts";
import type { SupervisorRequest } from "./job-input.ts";
import { mustBe, mustHaveTask } from "./job-step.ts";
import { checkRequest } from "./request-shapes.ts";
import { buildSettings } from "./run-input.ts";
import { throwIfFailed } from "./run-result.ts";

const delegateUpdate = defineUpdate<DelegateResult, [DelegateRequest]>(DELEGATE_UPDATE);
const teamQuery = defineQuery<TeamView, [(readonly string[])?]>(TEAM_QUERY);

const DEFAULT_MAX_AGENTS = 100;
/** Each agent adds about a dozen events: a run can hold them all without continuing as new. */
const MAX_AGENTS = 1_000;

/**
 * Runs a lead and the agents to which it delegates tasks, and which it steers and stops. When the lead ends, all of
 * them end.
 */
export function supervisor(request: SupervisorRequest): Promise<TeamResult> {
  return runAsJob(async (outside) => {
    checkSupervisorRequest(request);
    checkRequest(request, "supervisor");
    const { agents, maxAgents = DEFAULT_MAX_AGENTS } = request;
    const team: Team = { agents, maxAgents: Math.min(maxAgents, MAX_AGENTS) };
    const { state, allocation } = openTeam(buildOpening(request), team);
    const job = new JobRun(state, buildSettings(request), outside, {
      status: buildTeamStatus,
      descriptions: {
        stop: "Ends the job: stops its lead and all agents",
        status: "Reports the state of the job",
      },
    });
    const ends = listenToLead(job, team);
    const lead = await job.start(
      LEAD_PART,
      { definitionHash: request.lead, prompt: request.task },
      allocation,
    ).end;
    job.stopParts();
    await condition(allHandlersFinished);
    await Promise.all(ends);
    return await end(job, lead);
  });
}

/**
 * Registers the handlers for the lead's tools.
 *
 * @returns The ends of the agents, a list that grows with each task.
 */
function listenToLead(job: JobRun, team: Team): readonly Promise<PartEnd>[] {
  const ends: Promise<PartEnd>[] = [];
  const isWordless = job.settings.redactContent === true;
  setHandler(teamQuery, (ids) => buildTeamView(job.state, team, ids), {
    description: "Lists the agents for their lead",
  });
  setHandler(
    delegateUpdate,
    async ({ id, agent, ref, task }) => {
      const handed = beginMember(job.state, team, { agent, task: isWordless ? "" : task }, Date.now());
      if (handed.type === "denied") return handed;
      job.update(handed.state);
      const { name, session } = handed.state.parts[handed.part]!;
      const { definitionHash = "" } = team.agents.find((named) => named.name === agent) ?? {};
      const run = job.start(handed.part, { definitionHash, prompt: { id, ref } }, handed.allocation);
      ends.push(run.end);
      // The lead may send a message to the agent as soon as it has the id.
      await run.started;
      return { type: "started", id: name, session };
    },
    { validator: checkDelegateRequest, description: "Delegates a task to one of the named agents" },
  );
  return ends;
}

async function end(job: JobRun, lead: PartEnd): Promise<TeamResult> {
  const { report } = lead;
  const outcome = job.stopOutcome ?? getLeadOutcome(lead);
  const { session } = job.state.parts[LEAD_PART]!;
  const text =
    report?.position === undefined
      ? null
      : await scheduleActivity<string | null>(
          "read-answer",
          [{ session, branch: report.branch, position: report.position }],
          buildWriteOptions("the result"),
        );
  job.update({ outcome });
  return throwIfFailed(buildTeamResult(job.state, outcome, text ?? undefined));
}

function getLeadOutcome(lead: PartEnd): Outcome {
  if (lead.type === "reported") return lead.report.outcome;
  return { type: "failed", fault: "lead-lost", message: `The lead did not finish: ${lead.reason}` };
}

/** Rejects an invalid request, because a request that a user types may be anything. */
function checkSupervisorRequest(request: SupervisorRequest | undefined): void {
  mustHaveTask(request?.task);
  mustBe(typeof request?.lead === "string", "`lead` must be the hash of a definition");
  const named = Array.isArray(request?.agents) ? request.agents : [];
  const isNamed = (one: SupervisorRequest["agents"][number]) =>
    typeof one?.name === "string" && typeof one.definitionHash === "string";
  mustBe(
    named.length > 0 && named.every(isNamed),
    "`agents` must be a list, each with `name`, `description` and `definitionHash`",
  );
}

function checkDelegateRequest(input: DelegateRequest): void {
  const { id, agent, ref, task } = input ?? {};
  if ([id, agent, ref, task].every((one) => typeof one === "string")) return;
  throw ApplicationFailure.nonRetryable(
    "A delegation must have `id`, `agent`, `task`, and `ref`: the hash of the task's text",
    "holdfast/invalid-message",
  );
}
