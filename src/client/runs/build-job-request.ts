import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { WorkMode } from "../../schema/mode.ts";
import type {
  AutonomousRequest,
  FanOutRequest,
  NamedAgent,
  PipelineRequest,
  SupervisorRequest,
} from "../../workflows/job-input.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { getRunSettings } from "./build-run-options.ts";
import { createLeadDefinition } from "./lead-definition.ts";
import { createMessageInput, type MessageWithId } from "./message-input.ts";
import { checkWorkspace } from "./pin-definition.ts";

/** A work mode that has its own workflow. */
export type JobWorkMode = Exclude<WorkMode, { type: "interactive" }>;

export type JobRequest = PipelineRequest | FanOutRequest | AutonomousRequest | SupervisorRequest;

/** The maximum bytes of inline text for one of many parts; longer texts are stored first. */
const PART_INLINE_BYTES = 1024;

/**
 * Builds the request that starts a job's workflow. Checks and stores every definition, and passes its hash.
 *
 * @param partBytes - The maximum bytes of inline text for one of many parts.
 */
export async function buildJobRequest(
  link: ClientLink,
  mode: JobWorkMode,
  task: string | undefined,
  partBytes: number = PART_INLINE_BYTES,
): Promise<JobRequest> {
  const common = async () => ({
    task: await createMessageInput(link, assertNotEmpty(task), "task"),
    ...toSettings(link, mode),
  });
  const storeAgent = (agent: AgentDefinition) => createAgentStore(link, agent);
  switch (mode.type) {
    case "pipeline": {
      const stages = await Promise.all(
        mode.stages.map(async ({ name, agent, prompt, input }) => ({
          name,
          ...(await storeAgent(agent)),
          ...omitUndefined({ prompt, input }),
        })),
      );
      return { ...(await common()), stages };
    }
    case "fan-out":
      return await buildFanOutRequest(link, mode, task, partBytes);
    case "autonomous": {
      const { maxIdleRounds, maxRounds } = mode;
      const agent = await storeAgent(withRestTools(mode.agent));
      return { ...(await common()), ...agent, maxIdleRounds, maxRounds };
    }
    case "supervisor": {
      const { definitionHash: lead } = await storeAgent(createLeadDefinition(mode.lead, mode.agents));
      const agents = await Promise.all(
        mode.agents.map(async ({ name, agent }) => {
          const { definitionHash } = await storeAgent({ ...agent, name });
          return { name, description: agent.description ?? "", definitionHash };
        }),
      );
      return { ...(await common()), lead, agents, maxAgents: mode.maxAgents };
    }
  }
}

async function buildFanOutRequest(
  link: ClientLink,
  mode: Extract<JobWorkMode, { type: "fan-out" }>,
  task: string | undefined,
  partBytes: number,
): Promise<FanOutRequest> {
  const tasks = mode.tasks?.map((one) => addTask(one, task)) ?? [assertNotEmpty(task)];
  const agents = await Promise.all(mode.agents.map((agent) => createAgentStore(link, agent)));
  const messages = await Promise.all(tasks.map((one) => packShort(link, one, partBytes)));
  const { concurrency, reducer } = mode;
  return {
    ...(task === undefined ? {} : { task: await createMessageInput(link, task, "task") }),
    ...toSettings(link, mode),
    parts: messages.flatMap((one) => agents.map((agent) => ({ ...agent, task: one }))),
    concurrency,
    reducer,
  };
}

function addTask(text: string, task: string | undefined): string {
  return text.replace(/\{\{\s*task\s*\}\}/g, () => assertNotEmpty(task));
}

async function packShort(
  link: ClientLink,
  text: string,
  bytes: number,
): Promise<Pick<MessageWithId, "text" | "ref">> {
  const { text: inline, ref } = await createMessageInput(link, text, "task", { inlineBytes: bytes });
  return inline === undefined ? { ref: ref ?? "" } : { text: inline };
}

/** The tools with which an autonomous agent ends its work, or sleeps. */
const SELF_PACING_TOOLS = ["finish_work", "sleep"] as const;

/**
 * Adds the tools of an autonomous agent. They affect the run alone, so that a policy with a strict default still
 * allows them.
 */
function withRestTools(agent: AgentDefinition): AgentDefinition {
  const { tools, permissions } = agent;
  const missing = SELF_PACING_TOOLS.filter((name) => !tools.includes(name));
  const offered = { ...agent, tools: [...tools, ...missing] };
  if (permissions.otherwise === "allow" || permissions.otherwise === "ask-unsafe") return offered;
  const allowed = { tool: [...SELF_PACING_TOOLS], outcome: "allow" as const };
  return { ...offered, permissions: { ...permissions, rules: [...permissions.rules, allowed] } };
}

async function createAgentStore(link: ClientLink, agent: AgentDefinition): Promise<NamedAgent> {
  await checkWorkspace(agent);
  const transcript = await link.storage.openTranscript();
  return { agent: agent.name, definitionHash: await transcript.saveDefinition(agent) };
}

function toSettings(link: ClientLink, { limits }: JobWorkMode) {
  return { limits, ...getRunSettings(link) };
}

function assertNotEmpty(task: string | undefined): string {
  if (task !== undefined) return task;
  throw new HoldfastError("input-invalid", "The job has no task. Specify the task.");
}
