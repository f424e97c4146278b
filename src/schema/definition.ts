import { z } from "zod";
import { ContextConfig } from "./context.ts";
import { Hooks } from "./hooks.ts";
import { McpServer } from "./mcp.ts";
import { CacheConfig, ModelConfig, ThinkingLevel } from "./model.ts";
import { OpenApis } from "./openapi.ts";
import { OutputFormat } from "./output.ts";
import { PermissionPolicy } from "./permission.ts";
import { findCostLimitProblem, type PricedAgent } from "./prices.ts";
import { SkillSettings } from "./skills.ts";
import { ToolStrategy } from "./tool.ts";
import { PinnedSources } from "./tool-source.ts";

export const QueueMode = z.enum(["one-at-a-time", "all"]);
export type QueueMode = z.infer<typeof QueueMode>;

const limitValue = z.number().int().positive().nullable();

/** Every limit that there is, as it may be set. `null` switches one off. What each is compared with: core/limits.ts. */
const LimitValues = {
  maxTurns: limitValue,
  /** Input and output tokens of all turns together. */
  maxTotalTokens: limitValue,
  maxDurationMs: limitValue,
  /** Dollars. Refused where the price of a model, a fallback or a sub-agent is unknown. */
  maxCostUsd: z.number().positive().nullable(),
};
type LimitName = keyof typeof LimitValues;

/** All limits, with these defaults; one without a default is off. */
export function buildLimits(defaults: { readonly [Name in LimitName]?: number } = {}) {
  const entries = Object.entries(LimitValues).map(([name, value]) => [
    name,
    value.default(defaults[name as LimitName] ?? null),
  ]);
  return z.strictObject(
    Object.fromEntries(entries) as {
      [Name in LimitName]: z.ZodDefault<(typeof LimitValues)[Name]>;
    },
  );
}

/** Where a run must end with a message instead of going on. Defaults: LIM-01. */
const DEFAULT_LIMITS = { maxTurns: 50, maxTotalTokens: 1_000_000, maxDurationMs: 600_000 };
export const Limits = buildLimits(DEFAULT_LIMITS);
export type Limits = z.infer<typeof Limits>;

/** In place of a definition's, for one loop; what is left out stays. */
export const LoopLimits = z.strictObject(LimitValues).partial();

/** A loop that goes on with what is there, without a new prompt (LOOP-04, LOOP-06). */
export const Continuation = z.strictObject({
  kind: z.union([
    z.object({ type: z.literal("default") }),
    z.object({ type: z.literal("rerun"), tag: z.string() }),
    z.object({ type: z.literal("branch"), tag: z.string() }),
    /** Asks for no answer: the context is made smaller, and the loop ends (CMP-13). */
    z.object({ type: z.literal("compaction") }),
  ]),
  /** Of a compaction: what matters most, for the model that writes the summary. */
  focus: z.string().max(2048).optional(),
  /** Behind this many entries of a branch, or at its end; the session's head unless said. A fork when others come after. */
  at: z.strictObject({ branch: z.string(), position: z.number().int().nonnegative().optional() }).optional(),
  /** In place of the definition's, for this loop. */
  limits: LoopLimits.optional(),
});
export type Continuation = z.infer<typeof Continuation>;

/** How a vendor that is slow, busy or unreachable is asked again. Defaults: RTY-01. */
export const RetryConfig = z.strictObject({
  /** 0 asks once only. */
  maxRetries: z.number().int().min(0).max(100).default(3),
  initialDelayMs: z.number().int().positive().default(1000),
  backoffMultiplier: z.number().min(1).default(2),
  maxDelayMs: z.number().int().positive().default(30_000),
  /** A vendor that wants to be left alone for longer is looked at again after this; 15 minutes unless said. */
  maxWaitMs: z.number().int().positive().optional(),
});
export type RetryConfig = z.infer<typeof RetryConfig>;

/** How a call waits for a person. */
export const ApprovalSettings = z.strictObject({
  /** After this the call is refused; `null`, the default, waits for days if it must. */
  timeoutMs: z.number().int().positive().nullable().default(null),
  /** Time in which nothing but a person is waited for counts for `limits.maxDurationMs`. */
  countsAsDuration: z.boolean().default(false),
});
export type ApprovalSettings = z.infer<typeof ApprovalSettings>;

/** How a model that announces a tool call and makes none is told so. Defaults: IRON-02. */
export const NudgeSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** In a row; the next text that announces a call is an answer like any other. */
  max: z.number().int().min(0).default(2),
});
export type NudgeSettings = z.infer<typeof NudgeSettings>;

/** What happens when a model makes a call that fails in the same way again and again; see docs/loop.md. */
export const RepeatSettings = z.strictObject({
  /** Answers in which the same call failed in the same way, after which the model is told plainly. */
  tellAfter: z.number().int().min(1).default(5),
  /** The same, after which the loop ends or a person is asked; `null` lets the model go on. */
  endAfter: z.number().int().min(1).nullable().default(8),
  /** `ask`: a person says whether the loop goes on. */
  action: z.enum(["end", "ask"]).default("end"),
});
export type RepeatSettings = z.infer<typeof RepeatSettings>;

/** How long what a model leaves behind when it goes back is shown to it. Defaults: PHI-02. */
export const RevertSettings = z.strictObject({
  /** Turns that a lesson or a finding is shown for. */
  shownForTurns: z.number().int().min(0).max(100).default(5),
  /** The newest of a kind are shown however old they are. At most 20, so that a run's state stays small. */
  newestOfKind: z.number().int().min(0).max(20).default(3),
});
export type RevertSettings = z.infer<typeof RevertSettings>;

/** Where a sub-agent must end. `null` switches one off; what its parent has left always counts too. Defaults: SUB-03. */
export const SubAgentLimits = buildLimits({ ...DEFAULT_LIMITS, maxTurns: 10, maxDurationMs: 300_000 });
export type SubAgentLimits = z.infer<typeof SubAgentLimits>;

/** How far delegation may go. Defaults: SUB-08. */
export const Delegation = z.strictObject({
  /** Sub-agents below each other; at 1 a sub-agent has none of its own. */
  maxDepth: z.number().int().min(1).max(10).default(1),
  /** Sub-agents that a loop may start, with all that those start. */
  maxChildren: z.number().int().positive().max(10_000).nullable().default(100),
});
export type Delegation = z.infer<typeof Delegation>;

/** An agent that another may call like a tool: with a task, in a session of its own. It inherits nothing but the budget. */
export const SubAgent = z.strictObject({
  /** The tool's name. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** For the model that is to choose it. */
  description: z.string().default(""),
  /** In place of the agent's own. */
  limits: SubAgentLimits.default(() => SubAgentLimits.parse({})),
  get agent() {
    return AgentDefinition;
  },
});
export type SubAgent = z.infer<typeof SubAgent>;

/** What is left out of the record besides the worker's own secrets. */
const RedactSettings = z.strictObject({
  /** What looks like a key, of tool results and of what they show live: the model does not see it either. */
  toolOutput: z.boolean().default(false),
});

type CostLimited = Omit<PricedAgent, "subAgents"> & {
  readonly limits: Limits;
  readonly subAgents?:
    | readonly { readonly agent: PricedAgent; readonly limits: SubAgentLimits }[]
    | undefined;
};

/** A cost limit says something only where all prices are known. */
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
 * One agent, whole: what a run is pinned to. Stored once under the hash of its canonical JSON.
 *
 * It names secrets and functions; it holds neither.
 */
export const AgentDefinition = z
  .strictObject({
    name: z.string().min(1).max(120).default("agent"),
    description: z.string().optional(),
    systemPrompt: z.string().default(""),
    model: ModelConfig,
    /**
     * Asked in this order, once each, where the model cannot answer: it is busy or out of reach and its retries are used
     * up, it failed by itself, or it does not take the key.
     */
    fallbacks: z.array(ModelConfig).max(MAX_FALLBACKS).optional(),
    thinking: ThinkingLevel.default("off"),
    temperature: z.number().min(0).max(2).optional(),
    /** Tokens of one answer; the model's own number when absent. */
    maxTokens: z.number().int().positive().optional(),
    /** Part of the loop id; `{provider}.{model}[.thinking]` when absent. */
    configId: z
      .string()
      .regex(/^[A-Za-z0-9_-]+$/)
      .optional(),
    /** Names of tools that the worker has registered. Unknown ones are left out with a warning. */
    tools: z.array(z.string()).default([]),
    /** Unknown tools are an error instead. */
    strict: z.boolean().default(false),
    /** APIs whose operations are tools, at most 32; see docs/openapi.md. */
    openapi: OpenApis.optional(),
    /**
     * Names of input filters that the worker has registered, asked in this order about all that people say before it
     * joins the conversation; at most 16. An unknown one is an error when a loop opens, which lists those that there are.
     */
    inputFilters: z.array(z.string()).max(MAX_FILTERS).default([]),
    /** Who is asked or told while the agent works, by point; see docs/hooks.md. */
    hooks: Hooks.default(() => ({})),
    /**
     * Names of context transforms that the worker has registered: before each request they make other messages of the
     * whole context, in this order. The record and its counts stay as they are.
     */
    transformContext: z.array(z.string()).default([]),
    /**
     * Name of a context converter that the worker has registered, which makes messages that a model can read of what the
     * transforms have left. `null`, the default, drops an application's own messages.
     */
    convertToLlm: z.string().nullable().default(null),
    /** What the last answer must be; a text when absent. */
    output: OutputFormat.optional(),
    /** Agents that it may hand a task to; see docs/children.md. */
    get subAgents() {
      return z.array(SubAgent).max(64).optional();
    },
    /** Absent: one level, SUB-08. */
    delegation: Delegation.optional(),
    toolStrategy: ToolStrategy.default({ type: "parallel" }),
    /** For tools that have no time limit of their own; `null`, the default, gives them none. */
    toolTimeoutMs: z.number().int().positive().nullable().default(null),
    /** Which calls run, which wait for a person, which are refused. */
    permissions: PermissionPolicy.default(() => PermissionPolicy.parse({})),
    /** When and how the context is made smaller; `null` never does. */
    context: ContextConfig.nullable().default(() => ContextConfig.parse({})),
    approvals: ApprovalSettings.default(() => ApprovalSettings.parse({})),
    nudges: NudgeSettings.default(() => NudgeSettings.parse({})),
    /** For calls that fail in the same way again and again. Absent: the defaults. */
    repeatedFailures: RepeatSettings.optional(),
    /** For the tool `revert_to_state`. */
    revert: RevertSettings.optional(),
    /** Absent: nothing but the worker's own secrets. */
    redact: RedactSettings.optional(),
    /** The folder that file and shell tools work in. Absolute. */
    workspace: z.string().optional(),
    /** What the workspace holds is kept with each turn, as a commit that no branch of its git repository knows of. */
    snapshots: z.enum(["git"]).optional(),
    /** `persistent`: no retention policy takes its sessions, unless somebody says so of one (`keep`). Absent: one may. */
    sessionScope: z.enum(["ephemeral", "persistent"]).optional(),
    limits: Limits.default(() => Limits.parse({})),
    retry: RetryConfig.default(() => RetryConfig.parse({})),
    cache: CacheConfig.default(() => CacheConfig.parse({})),
    steeringMode: QueueMode.default("one-at-a-time"),
    followUpMode: QueueMode.default("one-at-a-time"),
    /** Servers of the Model Context Protocol that it has tools of; see docs/mcp.md. Each name once. */
    mcp: z
      .array(McpServer)
      .max(32)
      .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, {
        error: "two servers have the same name",
      })
      .optional(),
    /** Folders of skills that it may read; none when absent. */
    skills: SkillSettings.optional(),
    /** What its sources outside offered when the loop was opened. Written then, whatever an author says. */
    pinned: PinnedSources.optional(),
  })
  .superRefine(checkPrices);
export type AgentDefinition = z.infer<typeof AgentDefinition>;
/** What an author writes: everything with a default may be left out. */
export type AgentDefinitionInput = z.input<typeof AgentDefinition>;
