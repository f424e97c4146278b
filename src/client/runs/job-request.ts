import type { AgentDefinition } from "../../schema/definition.ts";
import type { WorkMode } from "../../schema/mode.ts";
import type {
  AutonomousRequest,
  FanOutRequest,
  NamedAgent,
  PipelineRequest,
  SupervisorRequest,
} from "../../workflows/job-input.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { leadDefinition } from "./lead-definition.ts";
import { checkWorkspace } from "./pinned-definition.ts";
import { settingsOf } from "./run-options.ts";
import { type Message, pack } from "./words.ts";

/** A mode that is a workflow of its own. */
export type JobWorkMode = Exclude<WorkMode, { type: "interactive" }>;

export type JobRequest = PipelineRequest | FanOutRequest | AutonomousRequest | SupervisorRequest;

/** Words of one of many parts that travel inline; what is longer is stored first. */
const PART_INLINE_BYTES = 1024;

/**
 * What a job's workflow is started with: every definition is checked and stored, and goes by its hash.
 *
 * @param partBytes - Words of one of many parts that travel inline.
 */
export async function jobRequest(
  link: Link,
  mode: JobWorkMode,
  task: string | undefined,
  partBytes: number = PART_INLINE_BYTES,
): Promise<JobRequest> {
  const common = async () => ({ task: await pack(link, mustHave(task), "task"), ...setting(link, mode) });
  const named = (agent: AgentDefinition) => namedAgent(link, agent);
  switch (mode.type) {
    case "pipeline": {
      const stages = await Promise.all(
        mode.stages.map(async ({ name, agent, prompt, input }) => ({
          name,
          ...(await named(agent)),
          ...(prompt === undefined ? {} : { prompt }),
          ...(input === undefined ? {} : { input }),
        })),
      );
      return { ...(await common()), stages };
    }
    case "fan-out":
      return await fanOutRequest(link, mode, task, partBytes);
    case "autonomous": {
      const { maxIdleRounds, maxRounds } = mode;
      const agent = await named(restful(mode.agent));
      return { ...(await common()), ...agent, maxIdleRounds, maxRounds };
    }
    case "supervisor": {
      const { definitionHash: lead } = await named(leadDefinition(mode.lead, mode.agents));
      const agents = await Promise.all(
        mode.agents.map(async ({ name, agent }) => {
          const { definitionHash } = await named({ ...agent, name });
          return { name, description: agent.description ?? "", definitionHash };
        }),
      );
      return { ...(await common()), lead, agents, maxAgents: mode.maxAgents };
    }
  }
}

async function fanOutRequest(
  link: Link,
  mode: Extract<JobWorkMode, { type: "fan-out" }>,
  task: string | undefined,
  partBytes: number,
): Promise<FanOutRequest> {
  const tasks = mode.tasks?.map((one) => withTask(one, task)) ?? [mustHave(task)];
  const agents = await Promise.all(mode.agents.map((agent) => namedAgent(link, agent)));
  const words = await Promise.all(tasks.map((one) => packShort(link, one, partBytes)));
  const { concurrency, reducer } = mode;
  return {
    ...(task === undefined ? {} : { task: await pack(link, task, "task") }),
    ...setting(link, mode),
    parts: words.flatMap((one) => agents.map((agent) => ({ ...agent, task: one }))),
    concurrency,
    reducer,
  };
}

function withTask(words: string, task: string | undefined): string {
  return words.replace(/\{\{\s*task\s*\}\}/g, () => mustHave(task));
}

async function packShort(link: Link, text: string, bytes: number): Promise<Pick<Message, "text" | "ref">> {
  const { text: inline, ref } = await pack(link, text, "task", "", bytes);
  return inline === undefined ? { ref: ref ?? "" } : { text: inline };
}

/** The tools by which an agent that works by itself says when it is done, and when it wants to go on. */
const REST_TOOLS = ["finish_work", "sleep"] as const;

/**
 * With the tools of an agent that works by itself. They are about the run alone: a policy that would ask about all that it
 * does not name, or deny it, lets them run.
 */
function restful(agent: AgentDefinition): AgentDefinition {
  const { tools, permissions } = agent;
  const missing = REST_TOOLS.filter((name) => !tools.includes(name));
  const offered = { ...agent, tools: [...tools, ...missing] };
  if (permissions.otherwise === "allow" || permissions.otherwise === "ask-unsafe") return offered;
  const allowed = { tool: [...REST_TOOLS], outcome: "allow" as const };
  return { ...offered, permissions: { ...permissions, rules: [...permissions.rules, allowed] } };
}

async function namedAgent(link: Link, agent: AgentDefinition): Promise<NamedAgent> {
  await checkWorkspace(agent);
  const transcript = await link.storage.transcript();
  return { agent: agent.name, definitionHash: await transcript.saveDefinition(agent) };
}

function setting(link: Link, { limits }: JobWorkMode) {
  return { limits, ...settingsOf(link) };
}

function mustHave(task: string | undefined): string {
  if (task !== undefined) return task;
  throw new HoldfastError("input-invalid", "The job has no task: say what is to be done.");
}
