import { ApplicationFailure } from "@temporalio/common";
import {
  allHandlersFinished,
  condition,
  defineQuery,
  defineUpdate,
  scheduleActivity,
  setHandler,
} from "@temporalio/workflow";
import type { PartEnd } from "../core/task.ts";
import { delegate, LEAD, openTeam, type Team } from "../core/team/team.ts";
import { DELEGATE, type Delegated, type DelegateWords, TEAM } from "../core/team/team-messages.ts";
import { type TeamResult, type TeamView, teamResult, teamStatus, teamView } from "../core/team/team-shown.ts";
import type { Outcome } from "../schema/record.ts";
import { writeOptions } from "./activity-options.ts";
import { settingsFrom } from "./input.ts";
import { asJob, JobRun, openingOf } from "./job.ts";
import type { SupervisorRequest } from "./job-input.ts";
import { mustBe, mustHaveTask } from "./job-step.ts";
import { mustBeRequest } from "./request-shapes.ts";
import { orFailed } from "./result.ts";

const delegateUpdate = defineUpdate<Delegated, [DelegateWords]>(DELEGATE);
const teamQuery = defineQuery<TeamView, [(readonly string[])?]>(TEAM);

const DEFAULT_MAX_AGENTS = 100;
/** About a dozen events each: a run holds them all, and need not continue as new. */
const MOST_AGENTS = 1_000;

/** A lead, and the agents that it hands tasks to, steers and stops. Its end is the end of all. */
export function supervisor(request: SupervisorRequest): Promise<TeamResult> {
  return asJob(async (outside) => {
    mustBeNamed(request);
    mustBeRequest(request, "supervisor");
    const { agents, maxAgents = DEFAULT_MAX_AGENTS } = request;
    const team: Team = { agents, maxAgents: Math.min(maxAgents, MOST_AGENTS) };
    const { state, given } = openTeam(openingOf(request), team);
    const job = new JobRun(state, settingsFrom(request), outside, {
      status: teamStatus,
      descriptions: {
        stop: "Ends the job: its lead and all agents are stopped",
        status: "Where the job stands",
      },
    });
    const ends = listenToLead(job, team);
    const lead = await job.start(LEAD, { definitionHash: request.lead, prompt: request.task }, given).end;
    job.stopParts();
    await condition(allHandlersFinished);
    await Promise.all(ends);
    return await end(job, lead);
  });
}

/** What the lead's tools ask for. @returns The ends of the agents, a list that grows with each task. */
function listenToLead(job: JobRun, team: Team): readonly Promise<PartEnd>[] {
  const ends: Promise<PartEnd>[] = [];
  const isWordless = job.settings.words === "none";
  setHandler(teamQuery, (ids) => teamView(job.state, team, ids), {
    description: "The agents, as their lead sees them",
  });
  setHandler(
    delegateUpdate,
    async ({ id, agent, ref, task }) => {
      const handed = delegate(job.state, team, { agent, task: isWordless ? "" : task }, Date.now());
      if (handed.type === "refused") return handed;
      job.change(handed.state);
      const { name, session } = handed.state.parts[handed.part]!;
      const { definitionHash = "" } = team.agents.find((named) => named.name === agent) ?? {};
      const run = job.start(handed.part, { definitionHash, prompt: { id, ref } }, handed.given);
      ends.push(run.end);
      // Whoever is told the id may speak to the agent at once.
      await run.started;
      return { type: "begun", id: name, session };
    },
    { validator: mustBeDelegation, description: "Hands a task to one of the named agents" },
  );
  return ends;
}

async function end(job: JobRun, lead: PartEnd): Promise<TeamResult> {
  const { report } = lead;
  const outcome = job.stopped ?? outcomeOf(lead);
  const { session } = job.state.parts[LEAD]!;
  const text =
    report?.position === undefined
      ? null
      : await scheduleActivity<string | null>(
          "last-words",
          [{ session, branch: report.branch, position: report.position }],
          writeOptions("the result"),
        );
  job.change({ outcome });
  return orFailed(teamResult(job.state, outcome, text ?? undefined));
}

function outcomeOf(lead: PartEnd): Outcome {
  if (lead.type === "reported") return lead.report.outcome;
  return { type: "failed", fault: "lead-lost", message: `The lead did not come to an end: ${lead.how}` };
}

/** A request that somebody has typed may be anything. */
function mustBeNamed(request: SupervisorRequest | undefined): void {
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

function mustBeDelegation(words: DelegateWords): void {
  const { id, agent, ref, task } = words ?? {};
  if ([id, agent, ref, task].every((one) => typeof one === "string")) return;
  throw ApplicationFailure.nonRetryable(
    "A delegation has `id`, `agent`, `task`, and `ref`: the hash of its words",
    "holdfast/invalid-message",
  );
}
