import { ApplicationFailure } from "@temporalio/common";
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  defineUpdate,
  scheduleActivity,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { orNoLimit } from "../core/budget/limits.ts";
import { delegate, leadOver, memberOver, openTeam, type Team } from "../core/job/team.ts";
import { DELEGATE, type Delegated, type DelegateWords, TEAM } from "../core/job/team-messages.ts";
import {
  type TeamResult,
  type TeamView,
  teamDashboard,
  teamResult,
  teamStatus,
  teamView,
} from "../core/job/team-shown.ts";
import type { PartEnd } from "../core/machine/task.ts";
import { truncateForPreview } from "../platform/text/preview.ts";
import { redact } from "../platform/text/redact.ts";
import type { Outcome } from "../schema/record.ts";
import { writeOptions } from "./activity-options.ts";
import { isWords, type StartRequest, settingsFrom } from "./input.ts";
import type { SupervisorRequest } from "./job-input.ts";
import { statusQuery, stopSignal, type Words } from "./messages.ts";
import { beginPart, runPart } from "./part.ts";
import { mustBeRequest } from "./request-shapes.ts";
import { orFailed } from "./result.ts";
import { showcaseOf } from "./shown.ts";

const delegateUpdate = defineUpdate<Delegated, [DelegateWords]>(DELEGATE);
const teamQuery = defineQuery<TeamView, [(readonly string[])?]>(TEAM);

const DEFAULT_MAX_AGENTS = 100;
/** About a dozen events each: a run holds them all, and need not continue as new. */
const MOST_AGENTS = 1_000;
const GOAL_BYTES = 253;

/** A lead, and the agents that it hands tasks to, steers and stops. Its end is the end of all. */
export function supervisor(request: SupervisorRequest): Promise<TeamResult> {
  return CancellationScope.nonCancellable(() => drive(request, CancellationScope.current().parent));
}

async function drive(
  request: SupervisorRequest,
  outside: CancellationScope | undefined,
): Promise<TeamResult> {
  mustBeNamed(request);
  mustBeRequest(request, "supervisor");
  const settings = settingsFrom(request);
  const isWordless = settings.words === "none";
  const show = showcaseOf<Team>(settings.searchAttributes, {
    details: (shown) => teamDashboard(shown, Date.now()),
    status: (shown) => teamStatus(shown, Date.now()),
  });
  const opened = openTeam({
    job: workflowInfo().workflowId,
    goal: isWordless ? "" : truncateForPreview(redact(wordsOf(request.task)), GOAL_BYTES),
    agents: request.agents,
    maxAgents: Math.min(request.maxAgents ?? DEFAULT_MAX_AGENTS, MOST_AGENTS),
    limits: orNoLimit(request.limits),
    nowMs: Date.now(),
  });
  let team: Team = opened.team;
  const change = (next: Team): void => {
    team = next;
    show(team);
  };
  const work = new CancellationScope();
  const ends: Promise<void>[] = [];

  const stop = (reason: string): void => {
    if (team.stop !== undefined || team.outcome !== undefined) return;
    change({ ...team, stop: { reason } });
    work.cancel();
  };
  setHandler(stopSignal, (reason) => stop(typeof reason === "string" ? reason : "stop was requested"), {
    description: "Ends the job: its lead and all agents are stopped",
  });
  setHandler(statusQuery, () => teamStatus(team, Date.now()), { description: "Where the job stands" });
  setHandler(teamQuery, (ids) => teamView(team, ids), { description: "The agents, as their lead sees them" });
  setHandler(delegateUpdate, begin, {
    validator: mustBeDelegation,
    description: "Hands a task to one of the named agents",
  });
  outside?.cancelRequested.catch(() => stop("the workflow was cancelled"));
  show(team);

  const { session } = team.lead;
  const start: StartRequest = {
    definitionHash: request.lead,
    prompt: request.task,
    share: opened.given,
    settings,
  };
  const lead = await work.run(() => runPart(session, start, "lead"));
  change(leadOver(team, lead));
  work.cancel();
  await condition(allHandlersFinished);
  await Promise.all(ends);
  return orFailed(await resultOf(lead));

  async function begin({ id, agent, ref, task }: DelegateWords): Promise<Delegated> {
    const begun = delegate(team, { agent, task: isWordless ? "" : task }, Date.now());
    if (begun.type === "refused") return begun;
    change(begun.team);
    const { member, given } = begun;
    const { definitionHash = "" } = team.agents.find(({ name }) => name === agent) ?? {};
    let started: Promise<unknown> = Promise.resolve();
    const end = work.run(() => {
      const run = beginPart(
        member.session,
        { definitionHash, prompt: { id, ref }, share: given, settings },
        isWordless ? member.id : `${member.id} · ${member.task}`,
      );
      started = run.started;
      return run.end;
    });
    ends.push(end.then((how) => change(memberOver(team, member.id, how))));
    // Whoever is told the id may speak to the agent at once.
    await started;
    return { type: "begun", id: member.id, session: member.session };
  }

  async function resultOf(end: PartEnd): Promise<TeamResult> {
    const { report } = end;
    const outcome = outcomeOf(end, team);
    const text =
      report?.position === undefined
        ? null
        : await scheduleActivity<string | null>(
            "last-words",
            [{ session, branch: report.branch, position: report.position }],
            writeOptions("the result"),
          );
    change({ ...team, outcome });
    return teamResult(team, outcome, text ?? undefined);
  }
}

function outcomeOf(end: PartEnd, { stop }: Team): Outcome {
  if (stop !== undefined) return { type: "stopped", reason: stop.reason };
  if (end.type === "reported") return end.report.outcome;
  return { type: "failed", fault: "lead-lost", message: `The lead did not come to an end: ${end.how}` };
}

function wordsOf(task: Words): string {
  return (typeof task === "string" ? task : task.text) ?? "";
}

/** A request that somebody has typed may be anything. */
function mustBeNamed(request: SupervisorRequest | undefined): void {
  const wrong = (what: string) =>
    ApplicationFailure.nonRetryable(`The job cannot begin: ${what}`, "holdfast/invalid-request");
  if (!isWords(request?.task)) throw wrong("`task` must be a text, or an object with `text` or `ref`");
  if (typeof request?.lead !== "string") throw wrong("`lead` must be the hash of a definition");
  const named = Array.isArray(request.agents) ? request.agents : [];
  const isNamed = (one: SupervisorRequest["agents"][number]) =>
    typeof one?.name === "string" && typeof one.definitionHash === "string";
  if (named.length === 0 || !named.every(isNamed)) {
    throw wrong("`agents` must be a list, each with `name`, `description` and `definitionHash`");
  }
}

function mustBeDelegation(words: DelegateWords): void {
  const { id, agent, ref, task } = words ?? {};
  if ([id, agent, ref, task].every((one) => typeof one === "string")) return;
  throw ApplicationFailure.nonRetryable(
    "A delegation has `id`, `agent`, `task`, and `ref`: the hash of its words",
    "holdfast/invalid-message",
  );
}
