import type { ToolFacts } from "../../../src/core/machine/state/digest.ts";
import { Stage } from "../../../src/devkit/scenario/plain/stage.ts";
import { createTool } from "../../../src/devkit/scenario/scenario-tool.ts";
import { Scenario, type ScenarioTool } from "../../../src/devkit/scenario/schema.ts";
import type { HookAnswer } from "../../../src/hooks/answer.ts";
import { ContextConfig } from "../../../src/schema/context.ts";
import { AgentDefinition, type AgentDefinitionInput } from "../../../src/schema/definition.ts";
import { HOOK_POINTS, type HookPoint } from "../../../src/schema/hooks.ts";
import { createReadFullMessageTool } from "../../../src/tools/builtin/read-full-message-tool.ts";
import { createViewTools } from "../../../src/tools/builtin/view-tools.ts";
import { ToolRegistry } from "../../../src/tools/tool-registry.ts";
import { NO_LIMITS, type Setting, TOOLS } from "./script.ts";
import type { ScriptedVendor } from "./vendor.ts";

// The scenario player's stage for what a test says: a real definition, tools, filters and hooks of the worker.

const VIEW_TOOLS = ["prun", "prun_with_memo", "revert_to_state"];
/** One that fails where it is told of something ends the loop. */
const GUARD = { name: "guard", onFailure: "stop" as const };
const EMPTY = Scenario.parse({ name: "core", mode: "interactive" });

/** Dollars for a million tokens that are read from a cache: 1/128 or 1/1000 a token, whichever adds up exactly. */
const EXACT_PRICE = 1_000_000 / 128;
const ROUND_PRICE = 1000;

export function priceFor({ replies = [] }: Setting): number {
  return replies.every(({ costUsd = 0 }) => Number.isInteger(costUsd * 128)) ? EXACT_PRICE : ROUND_PRICE;
}

const OUTPUT = {
  type: "json-schema",
  schema: { type: "object", properties: { count: { type: "number" } }, required: ["count"] },
} as const;

export function stageFor(setting: Setting, answers: ScriptedVendor): Stage {
  const definition = definitionFor(setting);
  const definitions = {
    get: (hash: string) => {
      const other = setting.definitions?.[hash];
      if (hash === "hash" || other === undefined) return hash === "hash" ? definition : undefined;
      return { ...definition, ...other, model: { ...definition.model, ...other.model } };
    },
  };
  const { after, session = "s" } = setting;
  const names = (definition.subAgents ?? []).map(({ name }) => name);
  const subAgents = names.map((name) => ({ name, agent: {}, model: [], arrives: [], subAgents: [] }));
  return new Stage({ ...EMPTY, subAgents }, undefined, {
    session,
    definition,
    definitionHash: "hash",
    definitions,
    tools: registryFor(setting.tools ?? TOOLS),
    vendor: answers,
    nowMs: after?.now ?? 1000,
    ...(after === undefined ? {} : { transcript: after.transcript }),
  });
}

/** What a test seldom changes is parsed once. */
function definitionFor(setting: Setting): AgentDefinition {
  const { hooks = [], guarded, compactAbove, nudges, repeats, permissions, delegation } = setting;
  const points = guarded === undefined ? hooks : [...new Set([...hooks, "before-loop" as const])];
  return {
    ...parsed(usual(setting)),
    limits: { ...NO_LIMITS, ...setting.limits },
    toolStrategy: setting.strategy ?? { type: "parallel" },
    steeringMode: setting.steeringMode ?? "one-at-a-time",
    followUpMode: setting.followUpMode ?? "one-at-a-time",
    permissions: { rules: [], otherwise: "allow", ...permissions },
    approvals: {
      timeoutMs: setting.approvalTimeoutMs ?? null,
      countsAsDuration: setting.waitingCounts ?? false,
    },
    context: compactAbove === undefined ? null : contextFor(compactAbove),
    nudges: { enabled: nudges !== undefined, max: nudges ?? 0 },
    hooks: Object.fromEntries(points.map((point) => [point, [GUARD]])),
    ...(repeats === undefined ? {} : { repeatedFailures: repeats }),
    ...(delegation === undefined ? {} : { delegation }),
    ...(setting.titles === undefined ? {} : { titles: setting.titles }),
  };
}

function usual(setting: Setting): AgentDefinitionInput {
  const { tools = TOOLS, judges, rejects, maxRetries = 3 } = setting;
  const names = Object.keys(tools).filter((name) => tools[name]?.child === undefined);
  const agents = Object.keys(tools).filter((name) => tools[name]?.child !== undefined);
  return {
    name: "tester",
    configId: "test",
    model: modelFor(priceFor(setting)),
    tools: names,
    retry: { maxRetries },
    inputFilters: [...(judges === undefined ? [] : ["judge"]), ...(rejects === undefined ? [] : ["rejects"])],
    ...(setting.output === undefined ? {} : { output: OUTPUT }),
    ...(agents.length === 0 ? {} : { subAgents: agents.map((name) => agentFor(name, tools[name])) }),
  };
}

function modelFor(cacheRead: number) {
  return {
    id: "model-1",
    api: "anthropic_messages" as const,
    provider: "anthropic",
    baseUrl: "http://127.0.0.1:1",
    contextWindow: 10_000_000,
    maxTokens: 1000,
    cost: { input: 0, output: 0, cacheRead },
  };
}

const contexts = new Map<number, ContextConfig>();

/** A compaction leaves a line for each turn but the newest two. */
function contextFor(compactAbove: number): ContextConfig {
  const compaction = {
    compactAtPct: 1,
    budgetThresholdPct: 0,
    keepFirstTurns: 0,
    keepRecentTurns: 2,
    // All of a story, so that its view covers every message.
    scope: { type: "fixed" as const, loops: 1000 },
  };
  const maxContextTokens = compactAbove + 2;
  const found =
    contexts.get(compactAbove) ??
    ContextConfig.parse({ maxContextTokens, systemPromptTokens: 2, compaction });
  contexts.set(compactAbove, found);
  return found;
}

function agentFor(name: string, facts: ToolFacts | undefined) {
  const { limits = {}, delegation, acceptsMaxTurns } = facts?.child ?? {};
  const model = modelFor(EXACT_PRICE);
  const below = { name: "helper", agent: { name: "helper", model } };
  return {
    name,
    limits,
    ...(acceptsMaxTurns === undefined ? {} : { acceptsMaxTurns }),
    agent: { name, model, ...(delegation === undefined ? {} : { delegation, subAgents: [below] }) },
  };
}

const known = new Map<string, AgentDefinition>();

/** Definitions change nothing of what they hold: one for all that are the same. */
function parsed(given: AgentDefinitionInput): AgentDefinition {
  const key = JSON.stringify(given);
  const found = known.get(key) ?? withOneSchema(AgentDefinition.parse(given));
  if (known.size > 500) known.clear();
  known.set(key, found);
  return found;
}

/** A schema is compiled once for each object that it is. */
function withOneSchema(definition: AgentDefinition): AgentDefinition {
  return definition.output === undefined ? definition : { ...definition, output: OUTPUT };
}

const registries = new Map<string, ToolRegistry>();

function registryFor(tools: Record<string, ToolFacts>): ToolRegistry {
  const key = JSON.stringify(tools);
  const found = registries.get(key);
  if (found !== undefined) return found;
  const own = Object.entries(tools).filter(
    ([name, { child }]) => child === undefined && !VIEW_TOOLS.includes(name),
  );
  const registry = new ToolRegistry([
    ...createViewTools(),
    createReadFullMessageTool(),
    ...own.map(([name, facts]) => ({ ...createTool(toolFor(name, facts), () => ""), summarise })),
  ]);
  registries.set(key, registry);
  return registry;
}

/** What a timeline shows of a call: its command, if it has one. */
function summarise(value: unknown): string {
  const { command } = value as { readonly command?: string };
  return command ?? "";
}

function toolFor(name: string, { replay, quick, confirm = false, timeoutMs }: ToolFacts): ScenarioTool {
  return {
    name,
    parameters: { text: "string", command: "string?", path: "string?" },
    touches: { command: "command", path: "path" },
    replay,
    quick,
    confirm,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    does: [{ gives: "ok" }],
  };
}

type Say = {
  /** What the hook answers now. */
  readonly hook: (point: HookPoint, context: object) => unknown;
  readonly judged: (text: string) => void;
};

/** The stage's hooks and filters, as the setting has them. */
export function register({ hooks, filters }: Stage, { judges, rejects }: Setting, say: Say): void {
  if (judges !== undefined) {
    filters.register("judge", (text) => {
      say.judged(text);
      const said = judges(text);
      if (said === undefined) return { type: "pass" };
      if ("warn" in said) return { type: "warn", warning: said.warn };
      return { type: "reject", reason: said.reject };
    });
  }
  if (rejects !== undefined) {
    filters.register("rejects", (text) =>
      text.includes(rejects) ? { type: "reject", reason: `not "${rejects}"` } : { type: "pass" },
    );
  }
  const listen = (point: HookPoint) => (context: object) => say.hook(point, context) as HookAnswer;
  hooks.register("guard", Object.fromEntries(HOOK_POINTS.map((point) => [point, listen(point)])));
}
