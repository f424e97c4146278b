import { setTimeout as sleep } from "node:timers/promises";
import { type Client, type WorkflowHandle, WorkflowUpdateFailedError } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import { parseLeadJob } from "../../core/job/team.ts";
import { TEAM_QUERY } from "../../core/job/team-messages.ts";
import type { TeamView } from "../../core/job/team-status.ts";
import { ToolError } from "../../tools/tool-execution.ts";

/** The job that a lead works for. */
export type TeamHandle = {
  readonly name: string;
  readonly client: Client;
  readonly job: WorkflowHandle;
  /** Ends the requests. */
  readonly signal: AbortSignal;
};

/** Each attempt takes up to ten seconds when nothing answers. */
const MAX_ATTEMPTS = 20;
const PAUSE_MS = 500;

/** @throws A `ToolError` for an agent that leads no team. */
export function getTeam(session: string, client: Client, signal: AbortSignal): TeamHandle {
  const name = parseLeadJob(session);
  if (name === undefined) throw buildNoTeamError();
  return { name, client, signal, job: client.workflow.getHandle(name) };
}

/** @throws A `ToolError` when an id is unknown. */
export async function queryTeam(team: TeamHandle, ids: readonly string[] | undefined): Promise<TeamView> {
  const asked: [(readonly string[])?] = ids === undefined ? [] : [ids];
  const view = await callServer(team, () =>
    team.job.query<TeamView, [(readonly string[])?]>(TEAM_QUERY, ...asked),
  );
  if (view.unknown.length === 0) return view;
  throw new ToolError(
    "failed",
    `No agent has the id ${view.unknown.join(", ")}: use the ids that delegate returned.`,
  );
}

/** Returns the run of an agent that accepts messages. */
export async function getRunningMember(team: TeamHandle, id: string): Promise<WorkflowHandle> {
  const [member] = (await queryTeam(team, [id])).members;
  if (member?.status !== "running") throw buildEndedError(id);
  return team.client.workflow.getHandle(member.session);
}

/** Calls the server, and converts its errors to texts for the model. */
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
        throw new ToolError("failed", `The job ${name} rejected the request: ${text}`, { cause: error });
      }
      // Nothing answered: another worker may have to take the job over first. A repeated request takes effect once.
      if (attempt >= MAX_ATTEMPTS) throw error;
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}

function buildNoTeamError(cause?: unknown): ToolError {
  return new ToolError(
    "failed",
    "You lead no agents: only the lead of a supervisor job can use this tool. Do the task yourself.",
    { cause },
  );
}

function buildEndedError(id: string): ToolError {
  return new ToolError("failed", `${id} has ended: check_agents returns its result.`);
}
