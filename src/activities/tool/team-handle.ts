import { setTimeout as sleep } from "node:timers/promises";
import { type Client, type WorkflowHandle, WorkflowUpdateFailedError } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import { parseLeadJob } from "../../core/job/team.ts";
import { TEAM_QUERY } from "../../core/job/team-messages.ts";
import type { TeamView } from "../../core/job/team-status.ts";
import { ToolError } from "../../tools/tool.ts";

/** The job that a lead works for. */
export type TeamHandle = {
  readonly name: string;
  readonly client: Client;
  readonly job: WorkflowHandle;
  /** Ends the asking. */
  readonly signal: AbortSignal;
};

/** Each takes up to ten seconds when nobody answers. */
const MAX_ATTEMPTS = 20;
const PAUSE_MS = 500;

/** @throws A `ToolError` for an agent that leads no team. */
export function getTeam(session: string, client: Client, signal: AbortSignal): TeamHandle {
  const name = parseLeadJob(session);
  if (name === undefined) throw buildNoTeamError();
  return { name, client, signal, job: client.workflow.getHandle(name) };
}

/** @throws A `ToolError` when one of them is not there. */
export async function queryTeam(team: TeamHandle, ids: readonly string[] | undefined): Promise<TeamView> {
  const asked: [(readonly string[])?] = ids === undefined ? [] : [ids];
  const view = await callServer(team, () =>
    team.job.query<TeamView, [(readonly string[])?]>(TEAM_QUERY, ...asked),
  );
  if (view.unknown.length === 0) return view;
  throw new ToolError(
    "failed",
    `No agent has the id ${view.unknown.join(", ")}: ids are as delegate gives them.`,
  );
}

/** The run of an agent that can be spoken to. */
export async function getRunningMember(team: TeamHandle, id: string): Promise<WorkflowHandle> {
  const [member] = (await queryTeam(team, [id])).members;
  if (member?.status !== "running") throw buildEndedError(id);
  return team.client.workflow.getHandle(member.session);
}

/** Says in a model's words what the server has said. */
export async function callServer<Said>(
  { name, signal }: TeamHandle,
  ask: () => Promise<Said>,
  id?: string,
): Promise<Said> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError)
        throw id === undefined ? buildNoTeamError(error) : buildEndedError(id);
      if (error instanceof WorkflowUpdateFailedError) {
        const text = error.cause?.message ?? error.message;
        throw new ToolError("failed", `The job ${name} did not take it: ${text}`, { cause: error });
      }
      // Nobody answered: another worker may have to take the job up first. What is asked twice is done once.
      if (attempt >= MAX_ATTEMPTS) throw error;
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}

function buildNoTeamError(cause?: unknown): ToolError {
  return new ToolError(
    "failed",
    "You lead no agents: this tool is for the lead of a supervisor's job. Do the task yourself.",
    { cause },
  );
}

function buildEndedError(id: string): ToolError {
  return new ToolError("failed", `${id} is over: check_agents gives what it has said.`);
}
