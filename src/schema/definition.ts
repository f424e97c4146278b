import { z } from "zod";
import { AnswerSharing } from "./answer-sharing.ts";
import { ContextConfig } from "./context.ts";
import { Hooks } from "./hooks.ts";
import { Limits, SubAgentLimits } from "./limits.ts";
import { McpServer } from "./mcp.ts";
import { CacheConfig, ModelConfig, ThinkingLevel } from "./model.ts";
import { OpenApis } from "./openapi.ts";
import { OutputFormat } from "./output.ts";
import { PermissionPolicy } from "./permission.ts";
import { findCostLimitProblem, type PricedAgent } from "./prices.ts";
import { NudgeSettings, RepeatSettings, RetryConfig, RevertSettings } from "./recovery.ts";
import { SandboxSettings } from "./sandbox.ts";
import { SkillSettings } from "./skills.ts";
import { ToolStrategy } from "./tool.ts";
import { PinnedSources } from "./tool-source.ts";

/** How many waiting messages a turn takes: the oldest one, or all. */
export const QueueMode = z.enum(["one-at-a-time", "all"]);
export type QueueMode = z.infer<typeof QueueMode>;

const positive = z.number().int().positive();

/** How a call waits for the user's approval. */
export const ApprovalSettings = z.strictObject({
  timeoutMs: positive
    .nullable()
    .default(null)
    .describe("After this time the call is denied; `null`, the default, waits for days if necessary."),
  countsAsDuration: z
    .boolean()
    .default(false)
    .describe("Whether time that is spent only waiting for the user counts for `limits.maxDurationMs`."),
});
export type ApprovalSettings = z.infer<typeof ApprovalSettings>;

/** The limits of delegation. Defaults: SUB-08. */
export const Delegation = z.strictObject({
  maxDepth: z
    .number()
    .int()
    .min(1)
    .max(10)
    .default(1)
    .describe("The levels of sub-agents below each other; at 1 a sub-agent has none of its own."),
  maxChildren: positive
    .max(10_000)
    .nullable()
    .default(100)
    .describe("The number of sub-agents that a loop may start, including all that those start."),
  maxTreeTurns: positive
    .nullable()
    .optional()
    .describe(
      "The turns of the loop and of all agents below it together; `limits.maxTurns`, which is then both, if absent.",
    ),
});
export type Delegation = z.infer<typeof Delegation>;

/** An agent that another agent may call like a tool, with a task, in its own session. It inherits the budget, and the sandbox if it states none. */
export const SubAgent = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .describe("The name of the tool."),
  description: z.string().default("").describe("What it is for, which helps the calling model to choose it."),
  limits: SubAgentLimits.default(() => SubAgentLimits.parse({})).describe(
    "Limits that replace the agent's own.",
  ),
  acceptsMaxTurns: z
    .boolean()
    .optional()
    .describe(
      "Whether a call may set its own maximum of turns with the argument `max_turns`, 1 to 100, in place of `limits.maxTurns`; no if absent.",
    ),
  get agent() {
    return AgentDefinition.describe("The definition of the sub-agent.");
  },
});
export type SubAgent = z.infer<typeof SubAgent>;
/** The input from an author: fields with a default are optional. */
export type SubAgentInput = z.input<typeof SubAgent>;

/** What is redacted in addition to the worker's own secrets. */
const RedactSettings = z.strictObject({
  toolOutput: z
    .boolean()
    .default(false)
    .describe(
      "Redacts text that looks like a key in tool results and their live output, so the model does not see it either.",
    ),
});

type CostLimited = Omit<PricedAgent, "subAgents"> & {
  readonly limits: Limits;
  readonly subAgents?:
    | readonly { readonly agent: PricedAgent; readonly limits: SubAgentLimits }[]
    | undefined;
};

/** Rejects a cost limit when a price is unknown, because it could not be enforced. */
function checkPrices({ limits, ...agent }: CostLimited, context: z.RefinementCtx): void {
  rejectCostLimit(limits.maxCostUsd, agent, [], context);
  for (const [index, child] of (agent.subAgents ?? []).entries()) {
    rejectCostLimit(child.limits.maxCostUsd, child.agent, ["subAgents", index], context);
  }
}

function rejectCostLimit(
  limit: number | null,
  agent: PricedAgent,
  path: readonly PropertyKey[],
  context: z.RefinementCtx,
): void {
  const message = limit === null ? undefined : findCostLimitProblem([agent]);
  if (message === undefined) return;
  context.addIssue({ code: "custom", path: [...path, "limits", "maxCostUsd"], message });
}

const MAX_FILTERS = 16;
export const MAX_FALLBACKS = 8;

/**
 * The complete definition of one agent, to which a run is pinned. Stored once under the hash of its canonical JSON.
 *
 * It names secrets and functions but contains neither.
 */
export const AgentDefinition = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(120)
      .default("agent")
      .describe("The display name, which also groups the sessions of the agent; at most 120 characters."),
    description: z
      .string()
      .optional()
      .describe(
        "What the agent is for: for the readers of the definition, and for an agent that may call it.",
      ),
    systemPrompt: z.string().default("").describe("The system prompt; empty by default."),
    model: ModelConfig.describe("The model that answers."),
    fallbacks: z
      .array(ModelConfig)
      .max(MAX_FALLBACKS)
      .optional()
      .describe(
        "Models that are called in this order, once each, when the model cannot answer: it is busy or unreachable and its retries are used up, it failed by itself, or it rejects the key.",
      ),
    thinking: ThinkingLevel.default("off").describe(
      "How much the model thinks before it answers; `off` by default.",
    ),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .optional()
      .describe("The sampling temperature, 0 to 2; the vendor's default if absent."),
    maxTokens: positive
      .optional()
      .describe("The maximum tokens of one answer; the model's own maximum by default."),
    configId: z
      .string()
      .regex(/^[A-Za-z0-9_-]+$/)
      .optional()
      .describe("Part of the loop id; `{provider}.{model}[.thinking]` by default."),
    tools: z
      .array(z.string())
      .default([])
      .describe("Names of tools that the worker has registered. Unknown ones are ignored with a warning."),
    strict: z.boolean().default(false).describe("Makes unknown tools an error."),
    openapi: OpenApis.optional().describe(
      "APIs whose operations are tools, at most 32; see docs/openapi.md.",
    ),
    inputFilters: z
      .array(z.string())
      .max(MAX_FILTERS)
      .default([])
      .describe(
        "Names of input filters that the worker has registered. They check every user message, in this order, before it joins the conversation; at most 16. An unknown name is an error when a loop opens, which lists the registered filters.",
      ),
    hooks: Hooks.default(() => ({})).describe(
      "Hooks that are called while the agent works, by point; see docs/hooks.md.",
    ),
    transformContext: z
      .array(z.string())
      .default([])
      .describe(
        "Names of context transforms that the worker has registered. Before each request they transform the messages of the whole context, in this order. The record and its counts stay unchanged.",
      ),
    convertToLlm: z
      .string()
      .nullable()
      .default(null)
      .describe(
        "The name of a context converter that the worker has registered. It converts the result of the transforms to messages that a model can read. `null`, the default, drops an application's own messages.",
      ),
    contextTranslation: z
      .string()
      .min(1)
      .nullable()
      .optional()
      .describe(
        "How answers of other vendors are translated for the vendor that is called. Absent or `default`: by the rules of the adapters. `null`: not at all; every message is sent as if the vendor had made it. Otherwise the name of a function that the worker has registered, whose result is sent as it is.",
      ),
    output: OutputFormat.optional().describe("The format of the last answer; a text by default."),
    get subAgents() {
      return z
        .array(SubAgent)
        .max(64)
        .optional()
        .describe("Agents to which it may delegate a task; see docs/children.md.");
    },
    delegation: Delegation.optional().describe("How far sub-agents may delegate; one level if absent."),
    toolStrategy: ToolStrategy.default({ type: "parallel" }).describe(
      "Whether the calls of one answer run in parallel, one after the other, or in batches; `parallel` by default.",
    ),
    toolTimeoutMs: positive
      .nullable()
      .default(null)
      .describe(
        "The time limit of tools that have none of their own, in milliseconds; `null`, the default, for none.",
      ),
    permissions: PermissionPolicy.default(() => PermissionPolicy.parse({})).describe(
      "Which calls run, which wait for approval, which are denied.",
    ),
    context: ContextConfig.nullable()
      .default(() => ContextConfig.parse({}))
      .describe("When and how the context is made smaller; `null` disables compaction."),
    approvals: ApprovalSettings.default(() => ApprovalSettings.parse({})).describe(
      "How calls wait for a user.",
    ),
    nudges: NudgeSettings.default(() => NudgeSettings.parse({})).describe(
      "How a model is reminded that it announced a tool call but made none.",
    ),
    repeatedFailures: RepeatSettings.optional().describe(
      "What happens when calls fail repeatedly in the same way; the defaults if absent.",
    ),
    revert: RevertSettings.optional().describe(
      "What the model sees of what it left behind with the tool `revert_to_state`.",
    ),
    redact: RedactSettings.optional().describe(
      "What is redacted in addition to the worker's own secrets; nothing if absent.",
    ),
    workspace: z.string().optional().describe("The folder in which file and shell tools work. Absolute."),
    sandbox: SandboxSettings.optional().describe(
      "The sandbox in which the processes of tools, hooks and MCP servers run; the worker's own setting if absent. See docs/sandbox.md.",
    ),
    snapshots: z
      .enum(["git"])
      .optional()
      .describe(
        "Stores the content of the workspace with each turn, as a commit on no branch of its git repository.",
      ),
    sessionScope: z
      .enum(["ephemeral", "persistent"])
      .optional()
      .describe(
        "`persistent`: retention policies skip its sessions, unless a session overrides it (`keep`). Absent: they apply.",
      ),
    titles: z
      .enum(["first-words", "model"])
      .optional()
      .describe(
        "What a session is called: the first words of its first prompt, which is the default, or what the model makes of the first answered loop, for one more small request.",
      ),
    limits: Limits.default(() => Limits.parse({})).describe("The limits at which a run ends."),
    retry: RetryConfig.default(() => RetryConfig.parse({})).describe("How calls to the vendor are retried."),
    cache: CacheConfig.default(() => CacheConfig.parse({})).describe("What the vendor is to cache."),
    steeringMode: QueueMode.default("one-at-a-time").describe("How many steering messages one turn takes."),
    followUpMode: QueueMode.default("one-at-a-time").describe("How many follow-ups one turn takes."),
    mcp: z
      .array(McpServer)
      .max(32)
      .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, {
        error: "two servers have the same name",
      })
      .optional()
      .describe("Model Context Protocol servers whose tools it has; see docs/mcp.md. Names are unique."),
    skills: SkillSettings.optional().describe("Folders of skills that it may read; none by default."),
    answers: AnswerSharing.optional().describe(
      "Takes answers to requests that were made before from the store of answers. A run of a suite sets it; absent, every request is sent.",
    ),
    pinned: PinnedSources.optional().describe(
      "What its tool sources offered when the loop was opened. Holdfast sets it then, and overwrites an author's value.",
    ),
  })
  .superRefine(checkPrices);
export type AgentDefinition = z.infer<typeof AgentDefinition>;
/** The input from an author: fields with a default are optional. */
export type AgentDefinitionInput = z.input<typeof AgentDefinition>;
