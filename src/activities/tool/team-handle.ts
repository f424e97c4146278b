import { setTimeout as sleep } from "node:timers/promises";
import { type Client, type WorkflowHandle, WorkflowUpdateFailedError } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import { jobOfLead } from "../../core/job/team.ts";
import { TEAM } from "../../core/job/team-messages.ts";
import type { TeamView } from "../../core/job/team-shown.ts";
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
export function teamOf(session: string, client: Client, signal: AbortSignal): TeamHandle {
  const name = jobOfLead(session);
  if (name === undefined) throw leadsNobody();
  return { name, client, signal, job: client.workflow.getHandle(name) };
}

/** @throws A `ToolError` when one of them is not there. */
export async function viewOf(team: TeamHandle, ids: readonly string[] | undefined): Promise<TeamView> {
  const asked: [(readonly string[])?] = ids === undefined ? [] : [ids];
  const view = await outside(team, () => team.job.query<TeamView, [(readonly string[])?]>(TEAM, ...asked));
  if (view.unknown.length === 0) return view;
  throw new ToolError(
    "failed",
    `No agent has the id ${view.unknown.join(", ")}: ids are as delegate gives them.`,
  );
}

/** The run of an agent that can be spoken to. */
export async function memberAtWork(team: TeamHandle, id: string): Promise<WorkflowHandle> {
  const [member] = (await viewOf(team, [id])).members;
  if (member?.status !== "running") throw isOver(id);
  return team.client.workflow.getHandle(member.session);
}

/** Says in a model's words what the server has said. */
export async function outside<Said>(
  { name, signal }: TeamHandle,
  ask: () => Promise<Said>,
  id?: string,
): Promise<Said> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw id === undefined ? leadsNobody(error) : isOver(id);
      if (error instanceof WorkflowUpdateFailedError) {
        const said = error.cause?.message ?? error.message;
        throw new ToolError("failed", `The job ${name} did not take it: ${said}`, { cause: error });
      }
      // Nobody answered: another worker may have to take the job up first. What is asked twice is done once.
      if (attempt >= MAX_ATTEMPTS) throw error;
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}

function leadsNobody(cause?: unknown): ToolError {
  return new ToolError(
    "failed",
    "You lead no agents: this tool is for the lead of a supervisor's job. Do the task yourself.",
    { cause },
  );
}

function isOver(id: string): ToolError {
  return new ToolError("failed", `${id} is over: check_agents gives what it has said.`);
}
