import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { AgentDefinitionInput, Problem } from "../client/index.ts";
import { CatalogueError, catalogueOf } from "../config/catalogue/user-file.ts";
import { parseModel } from "../config/parse-model.ts";
import { ModelError, type ModelOptions } from "../config/vendor-models.ts";
import { nearestName } from "../core/nearest-name.ts";
import { TOOL_ALIASES } from "../core/tool-aliases.ts";
import { costLimitProblem, type PricedAgent } from "../schema/prices.ts";
import { agentFromFile, BUILT_IN_TOOLS, KNOWN_TOOLS, type Surroundings } from "./agent-file.ts";
import { UNTRUSTED, type UntrustedFlag } from "./untrusted-flag.ts";
import { UsageError } from "./usage-error.ts";

export { BUILT_IN_TOOLS };

const MODEL_NAMES =
  "anthropic/ID, openai/ID, openai-responses/ID, azure/DEPLOYMENT, google/ID, vertex/ID, bedrock/ID, openrouter/VENDOR/ID or local/ID@URL";

export type AgentFlags = UntrustedFlag & {
  readonly agent?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly prices?: string;
  readonly workspace?: string;
  readonly tools?: string;
  readonly system?: string;
  readonly name?: string;
  readonly thinking?: string;
  readonly maxTurns?: string;
  readonly maxCost?: string;
  readonly outputSchema?: string;
};

export function addAgentFlags(command: Command): Command {
  return command
    .option("-a, --agent <file>", "an agent file, or FILE#NAME; the other flags override what it says")
    .option(...UNTRUSTED)
    .option("-m, --model <name>", MODEL_NAMES)
    .option("--base-url <url>", "where the vendor's protocol is served, if not at the vendor")
    .option("--prices <in,out>", "dollars per million input and output tokens; --max-cost needs them")
    .option("-w, --workspace <dir>", "the folder that the agent works in (default: the current one)")
    .option("-t, --tools <a,b>", `tools by name, or "none" (default: ${BUILT_IN_TOOLS.join(",")})`)
    .option("-s, --system <text>", "the system prompt, or @FILE")
    .option("--name <name>", "the agent's name, as lists show it")
    .option("--thinking <level>", "off, minimal, low, medium, high, xhigh or max")
    .option("--max-turns <n>", "end after so many answers of the model")
    .option("--max-cost <usd>", "end when this many dollars are spent");
}

export type FlaggedAgent = {
  readonly agent: AgentDefinitionInput;
  readonly warnings: readonly string[];
  /** Of the agent's file. */
  readonly problems: readonly Problem[];
};

/** @returns The definition, and what is worth a warning. */
export function definitionFrom(flags: AgentFlags, surroundings: Surroundings): FlaggedAgent {
  if (flags.agent !== undefined) return overriddenAgent(flags.agent, flags, surroundings);
  const workspace = resolve(surroundings.cwd, flags.workspace ?? ".");
  const { tools, warnings } = toolsFrom(flags.tools);
  const { model, doubts } = modelFrom(flags, surroundings.env);
  checkPrices(flags, [{ model }]);
  const agent = {
    model,
    systemPrompt: usualSystemPrompt(workspace),
    tools,
    workspace,
    ...overridesFrom(flags, surroundings.cwd),
  };
  return { agent, warnings: [...warnings, ...doubts], problems: [] };
}

/** What a file says, and over it what flags say. */
function overriddenAgent(file: string, flags: AgentFlags, surroundings: Surroundings): FlaggedAgent {
  const { agent, problems } = agentFromFile(file, { ...surroundings, untrusted: flags.untrusted });
  const { tools, warnings } = toolsFrom(flags.tools);
  const { limits, ...overrides } = overridesFrom(flags, surroundings.cwd);
  const { model, doubts } =
    flags.model === undefined
      ? { model: { ...agent.model, ...modelOptions(flags) }, doubts: [] }
      : modelFrom(flags, surroundings.env);
  checkPrices(flags, [{ ...agent, model }]);
  return {
    agent: {
      ...agent,
      ...overrides,
      model,
      ...(flags.tools === undefined ? {} : { tools }),
      ...(flags.workspace === undefined ? {} : { workspace: resolve(surroundings.cwd, flags.workspace) }),
      limits: { ...agent.limits, ...limits },
    },
    warnings: [...warnings, ...doubts],
    problems,
  };
}

/** What of a definition is to be different: nothing that no flag names. */
export function changesFrom(flags: AgentFlags, { cwd, env }: Surroundings): Partial<AgentDefinitionInput> {
  return {
    ...(flags.model === undefined ? {} : { model: modelFrom(flags, env).model }),
    ...(flags.system === undefined ? {} : { systemPrompt: systemFrom(flags.system, cwd) }),
    ...(flags.tools === undefined ? {} : { tools: toolsFrom(flags.tools).tools }),
    ...(flags.workspace === undefined ? {} : { workspace: resolve(cwd, flags.workspace) }),
  };
}

function checkPrices({ maxCost }: AgentFlags, agents: readonly PricedAgent[]): void {
  const problem = maxCost === undefined ? undefined : costLimitProblem(agents);
  if (problem !== undefined) throw new UsageError(`--max-cost: ${problem}.`);
}

function overridesFrom(flags: AgentFlags, cwd: string) {
  const limits = {
    ...(flags.maxTurns === undefined ? {} : { maxTurns: wholeNumber("--max-turns", flags.maxTurns) }),
    ...(flags.maxCost === undefined ? {} : { maxCostUsd: positive("--max-cost", flags.maxCost) }),
  };
  return {
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.system === undefined ? {} : { systemPrompt: systemFrom(flags.system, cwd) }),
    ...(flags.thinking === undefined ? {} : { thinking: flags.thinking as "low" }),
    ...(flags.outputSchema === undefined ? {} : { output: outputFrom(flags.outputSchema, cwd) }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

function usualSystemPrompt(workspace: string): string {
  return (
    `You work in the folder ${workspace}. Use your tools to look before you change anything, ` +
    "make the smallest change that does what was asked, check that it works, and say briefly what you did."
  );
}

function modelFrom(flags: AgentFlags, env: NodeJS.ProcessEnv) {
  const name = flags.model ?? env["HOLDFAST_MODEL"];
  if (name === undefined || name === "") {
    throw new UsageError(
      `Name a model: --model ${MODEL_NAMES} (or set HOLDFAST_MODEL), or an agent file: --agent FILE.`,
    );
  }
  try {
    const catalogue = catalogueOf(env);
    const model = parseModel(name, modelOptions(flags), catalogue);
    const known = model.provider === "local" || catalogue.find(model.provider, model.id) !== undefined;
    return { model, doubts: known ? [] : [notKnown(name, model)] };
  } catch (error) {
    if (error instanceof ModelError || error instanceof CatalogueError)
      throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function notKnown(name: string, { contextWindow, maxTokens }: ReturnType<typeof parseModel>): string {
  const [context, answer] = [contextWindow, maxTokens].map((tokens) => tokens.toLocaleString("en"));
  return `${name} is not in the catalogue of models: a context of ${context} tokens and answers of up to ${answer} are assumed. holdfast models lists what is known; docs/models.md says how to add to it.`;
}

function modelOptions({ baseUrl, prices }: AgentFlags): ModelOptions {
  return {
    ...(baseUrl === undefined ? {} : { baseUrl: urlFrom(baseUrl) }),
    ...(prices === undefined ? {} : { cost: pricesFrom(prices) }),
  };
}

export function urlFrom(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--base-url "${text}" is not a URL such as https://HOST/v1`);
  }
  return text.replace(/\/+$/, "");
}

function pricesFrom(text: string) {
  const parts = text.split(",").map((part) => Number(part.trim() === "" ? Number.NaN : part));
  const [input, output] = parts;
  if (parts.length !== 2 || !(input! >= 0) || !(output! >= 0)) {
    throw new UsageError(`--prices "${text}" must be two numbers, as in --prices 3,15`);
  }
  return { input: input!, output: output!, cacheRead: input!, cacheWrite: input! };
}

function toolsFrom(text: string | undefined): { tools: string[]; warnings: string[] } {
  if (text === undefined) return { tools: [...BUILT_IN_TOOLS], warnings: [] };
  if (text === "none") return { tools: [], warnings: [] };
  const tools = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const warnings = tools
    .filter((name) => !KNOWN_TOOLS.includes(TOOL_ALIASES[name] ?? name))
    .map((name) => {
      const near = nearestName(name, KNOWN_TOOLS);
      const hint =
        near === undefined ? `Built in are ${BUILT_IN_TOOLS.join(", ")}.` : `Did you mean "${near}"?`;
      return `Tool "${name}" is not built in; it is left out unless the worker has it. ${hint}`;
    });
  return { tools, warnings };
}

function outputFrom(name: string, cwd: string) {
  const file = resolve(cwd, name);
  try {
    return { type: "json-schema" as const, schema: JSON.parse(readFileSync(file, "utf8")) };
  } catch (error) {
    throw new UsageError(
      `--output-schema names the file ${file}, which cannot be read as a JSON Schema: ${(error as Error).message}`,
    );
  }
}

function systemFrom(text: string, cwd: string): string {
  if (!text.startsWith("@")) return text;
  const file = resolve(cwd, text.slice(1));
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(
      `--system names the file ${file}, which cannot be read: ${(error as Error).message}`,
    );
  }
}

export function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new UsageError(`${flag} "${text}" must be a whole number above 0`);
}

export function positive(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${flag} "${text}" must be a number above 0`);
}
