import { PACING_TOOLS } from "../../core/machine/added-tools.ts";
import { type Attachment, isAttachment } from "../../core/view/attachment.ts";
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
import { getPromptText, type Prompt } from "../prompts/prompt-part.ts";
import { getRunSettings } from "./build-run-options.ts";
import { createLeadDefinition } from "./lead-definition.ts";
import { assertPrompt, createMessageInput, type MessageWithId } from "./message-input.ts";
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
  task: Prompt | undefined,
  partBytes: number = PART_INLINE_BYTES,
): Promise<JobRequest> {
  const buildCommon = async (reader: AgentDefinition) => ({
    task: await createMessageInput(link, assertNotEmpty(task), "task", { findModels: () => [reader.model] }),
    ...toSettings(link, mode),
  });
  const storeAgent = (agent: AgentDefinition) => createAgentStore(link, agent);
  switch (mode.type) {
    case "pipeline": {
      const [first] = mode.stages;
      const common = await buildCommon(first!.agent);
      const stages = await Promise.all(
        mode.stages.map(async ({ name, agent, prompt, input }) => ({
          name,
          ...(await storeAgent(agent)),
          ...omitUndefined({ prompt, input }),
        })),
      );
      return { ...common, stages };
    }
    case "fan-out":
      return await buildFanOutRequest(link, mode, task, partBytes);
    case "autonomous": {
      const { maxIdleRounds, maxRounds } = mode;
      const common = await buildCommon(mode.agent);
      const agent = await storeAgent(withRestTools(mode.agent));
      return { ...common, ...agent, maxIdleRounds, maxRounds };
    }
    case "supervisor": {
      const common = await buildCommon(mode.lead);
      const { definitionHash: lead } = await storeAgent(createLeadDefinition(mode.lead, mode.agents));
      const agents = await Promise.all(
        mode.agents.map(async ({ name, agent }) => {
          const { definitionHash } = await storeAgent({ ...agent, name });
          return { name, description: agent.description ?? "", definitionHash };
        }),
      );
      return { ...common, lead, agents, maxAgents: mode.maxAgents };
    }
  }
}

async function buildFanOutRequest(
  link: ClientLink,
  mode: Extract<JobWorkMode, { type: "fan-out" }>,
  task: Prompt | undefined,
  partBytes: number,
): Promise<FanOutRequest> {
  const text = task === undefined ? undefined : readTaskText(task);
  const tasks = mode.tasks?.map((one) => addTask(one, text)) ?? [assertNotEmpty(task)];
  const findModels = () => mode.agents.map(({ model }) => model);
  const whole = task === undefined ? undefined : await createMessageInput(link, task, "task", { findModels });
  const agents = await Promise.all(mode.agents.map((agent) => createAgentStore(link, agent)));
  const messages =
    whole?.parts === true && mode.tasks === undefined
      ? [toTask(whole)]
      : await packTasks(link, tasks, partBytes, await readFiles(link, whole));
  const { concurrency, reducer } = mode;
  return {
    ...omitUndefined({ task: whole }),
    ...toSettings(link, mode),
    parts: messages.flatMap((one) => agents.map((agent) => ({ ...agent, task: one }))),
    concurrency,
    reducer,
  };
}

function addTask(text: string, task: string | undefined): string {
  return text.replace(/\{\{\s*task\s*\}\}/g, () => assertNotEmpty(task));
}

function readTaskText(task: Prompt): string {
  assertPrompt(task, "task");
  return getPromptText(task);
}

/** A message for sessions of which each gives it an id of its own. */
type Task = Pick<MessageWithId, "text" | "ref" | "parts" | "tokens">;

export function toTask({ text, ref, parts, tokens }: MessageWithId): Task {
  return omitUndefined({ text, ref, parts, tokens });
}

function packTasks(
  link: ClientLink,
  tasks: readonly Prompt[],
  inlineBytes: number,
  files: readonly Attachment[],
): Promise<readonly Task[]> {
  return Promise.all(
    tasks.map(async (one) => toTask(await createMessageInput(link, one, "task", { inlineBytes, files }))),
  );
}

/** Reads the images and files of a stored task, with references in place of their data. */
async function readFiles(link: ClientLink, task: MessageWithId | undefined): Promise<readonly Attachment[]> {
  if (task?.ref === undefined || task.parts !== true) return [];
  const transcript = await link.storage.openTranscript();
  return ((await transcript.readParts(task.ref)) ?? []).filter(isAttachment);
}

/**
 * Adds the tools of an autonomous agent. They affect the run alone, so that a policy with a strict default still
 * allows them.
 */
function withRestTools(agent: AgentDefinition): AgentDefinition {
  const { tools, permissions } = agent;
  const missing = PACING_TOOLS.filter((name) => !tools.includes(name));
  const offered = { ...agent, tools: [...tools, ...missing] };
  if (permissions.otherwise === "allow" || permissions.otherwise === "ask-unsafe") return offered;
  const allowed = { tool: [...PACING_TOOLS], outcome: "allow" as const };
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

function assertNotEmpty<Given extends Prompt>(task: Given | undefined): Given {
  if (task !== undefined) return task;
  throw new HoldfastError("input-invalid", "The job has no task. Specify the task.");
}
