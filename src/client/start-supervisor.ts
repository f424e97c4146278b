import { randomUUID } from "node:crypto";
import type { AgentDefinition, AgentDefinitionInput, Limits } from "../schema/definition.ts";
import type { SupervisorRequest } from "../workflows/supervisor-input.ts";
import { HoldfastError } from "./error.ts";
import { translated } from "./failures.ts";
import { leadDefinition } from "./lead-definition.ts";
import type { Link } from "./link.ts";
import { checkWorkspace, validDefinition } from "./pinned-definition.ts";
import { checkSearchAttributes } from "./registered.ts";
import { runOptions, settingsOf } from "./run-options.ts";
import { sessionId } from "./session-id.ts";
import { pack } from "./words.ts";

export type SupervisorOptions = {
  readonly task: string;
  /** It is told of its agents, and given the tools to hand them tasks, to steer and to stop them. */
  readonly lead: AgentDefinitionInput;
  /** Each is known to the lead by its name and its definition's `description`. */
  readonly agents: readonly { readonly name: string; readonly agent: AgentDefinitionInput }[];
  /** For all together; none unless said. */
  readonly limits?: Partial<Limits>;
  /** Tasks that may be handed out; 100 unless said. */
  readonly maxAgents?: number;
  /** The job's id, and the beginning of the ids of its sessions; a new one unless said. */
  readonly job?: string;
};

export type StartedSupervisor = { readonly job: string; readonly runId: string };

/** As they are exported to the bundle. */
export const SUPERVISOR_WORKFLOW = "supervisor";
const AGENT_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MOST_NAMED = 64;

/** All that can be known to be wrong is found before anything is written or started. */
export async function startSupervisor(link: Link, options: SupervisorOptions): Promise<StartedSupervisor> {
  const job = sessionId(options.job ?? randomUUID());
  const agents = options.agents.map(({ name, agent }) => ({
    name,
    agent: { ...validDefinition(agent), name },
  }));
  checkNames(agents.map(({ name }) => name));
  const lead = leadDefinition(validDefinition(options.lead), agents);
  await Promise.all([lead, ...agents.map(({ agent }) => agent)].map(checkWorkspace));
  await checkSearchAttributes(link);
  const request: SupervisorRequest = {
    task: await pack(link, options.task, "task"),
    lead: await saved(link, lead),
    agents: await Promise.all(
      agents.map(async ({ name, agent }) => ({
        name,
        description: agent.description ?? "",
        definitionHash: await saved(link, agent),
      })),
    ),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.maxAgents === undefined ? {} : { maxAgents: options.maxAgents }),
    ...settingsOf(link),
  };
  try {
    const handle = await link.client.workflow.start(SUPERVISOR_WORKFLOW, {
      ...runOptions(link, job, { definition: lead, prompt: options.task }),
      workflowIdConflictPolicy: "FAIL",
      // The sessions below would be there already.
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      args: [request],
    });
    return { job, runId: handle.firstExecutionRunId };
  } catch (error) {
    throw translated(error, link, job);
  }
}

async function saved(link: Link, definition: AgentDefinition): Promise<string> {
  return await (await link.storage.transcript()).saveDefinition(definition);
}

function checkNames(names: readonly string[]): void {
  const wrong = names.filter((name, at) => !AGENT_NAME.test(name) || names.indexOf(name) !== at);
  if (names.length >= 1 && names.length <= MOST_NAMED && wrong.length === 0) return;
  const problem =
    wrong.length > 0
      ? `${wrong.map((name) => `"${name}"`).join(", ")}: names are 1 to 64 letters, digits, - or _, and each stands once`
      : `there are ${names.length} agents; a supervisor has 1 to ${MOST_NAMED}`;
  throw new HoldfastError("input-invalid", `The agents cannot be told apart: ${problem}.`, {
    problems: [problem],
  });
}
