import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { AgentDefinitionInput, Problem } from "../../client/index.ts";
import { CatalogueError, readCatalogue } from "../../config/catalogue/user-file.ts";
import { parseModel } from "../../config/parse-model.ts";
import { ModelError, type ModelOptions } from "../../config/vendor-models.ts";
import { TOOL_ALIASES } from "../../core/machine/tool-aliases.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { findCostLimitProblem, type PricedAgent } from "../../schema/prices.ts";
import { type AgentFileContext, BUILT_IN_TOOLS, KNOWN_TOOLS, loadAgentFile } from "./agent-file.ts";
import { addLimitOptions, type LimitFlags, parseLimits } from "./limit-flags.ts";
import { applySandboxFlag, SANDBOX_OPTION, type SandboxFlag } from "./sandbox-flag.ts";
import { UNTRUSTED, type UntrustedFlag } from "./untrusted-flag.ts";
import { UsageError } from "./usage-error.ts";

export { BUILT_IN_TOOLS };

const MODEL_NAMES =
  "anthropic/ID, openai/ID, openai-responses/ID, azure/DEPLOYMENT, google/ID, vertex/ID, bedrock/ID, openrouter/VENDOR/ID or local/ID@URL";

export type AgentFlags = UntrustedFlag &
  LimitFlags &
  SandboxFlag & {
    readonly agent?: string;
    readonly model?: string;
    readonly baseUrl?: string;
    readonly prices?: string;
    readonly workspace?: string;
    readonly tools?: string;
    readonly system?: string;
    readonly name?: string;
    readonly thinking?: string;
    readonly outputSchema?: string;
  };

export function addAgentFlags(command: Command): Command {
  command
    .option("-a, --agent <file>", "an agent file, or FILE#NAME; the other flags override it")
    .option(...UNTRUSTED)
    .option("-m, --model <name>", MODEL_NAMES)
    .option("--base-url <url>", "the endpoint of the vendor's API (default: the vendor's)")
    .option(
      "--prices <in,out>",
      "dollars per million input and output tokens, for models whose prices are unknown; required by --max-cost",
    )
    .option("-w, --workspace <dir>", "the agent's working folder (default: the current folder)")
    .option("-t, --tools <a,b>", `tools by name, or "none" (default: ${BUILT_IN_TOOLS.join(",")})`)
    .option(...SANDBOX_OPTION)
    .option("-s, --system <text>", "the system prompt, or @FILE")
    .option("--name <name>", "the agent's name in lists")
    .option("--thinking <level>", "off, minimal, low, medium, high, xhigh or max");
  return addLimitOptions(command);
}

export type AgentFromFlags = {
  readonly agent: AgentDefinitionInput;
  readonly warnings: readonly string[];
  /** Warnings of the agent's file. */
  readonly problems: readonly Problem[];
};

/** Builds the definition from an agent file and flags; returns it with warnings. */
export function buildDefinition(flags: AgentFlags, fileContext: AgentFileContext): AgentFromFlags {
  const { agent, ...rest } =
    flags.agent === undefined
      ? buildAgent(flags, fileContext)
      : overrideAgentFile(flags.agent, flags, fileContext);
  return { agent: applySandboxFlag(agent, flags), ...rest };
}

function buildAgent(flags: AgentFlags, fileContext: AgentFileContext): AgentFromFlags {
  const workspace = resolve(fileContext.cwd, flags.workspace ?? ".");
  const { tools, warnings } = parseTools(flags.tools);
  const { model, doubts: modelWarnings } = parseModelFlag(flags, fileContext.env);
  checkPrices(flags, [{ model }]);
  const agent = {
    model,
    systemPrompt: buildDefaultSystemPrompt(workspace),
    tools,
    workspace,
    ...buildOverrides(flags, fileContext.cwd),
  };
  return { agent, warnings: [...warnings, ...modelWarnings], problems: [] };
}

/** Builds the definition of a file, with the values of flags in place of the file's. */
function overrideAgentFile(file: string, flags: AgentFlags, fileContext: AgentFileContext): AgentFromFlags {
  const { agent, problems } = loadAgentFile(file, { ...fileContext, untrusted: flags.untrusted });
  const { tools, warnings } = parseTools(flags.tools);
  const { limits, ...overrides } = buildOverrides(flags, fileContext.cwd);
  const { model, doubts: modelWarnings } =
    flags.model === undefined
      ? { model: { ...agent.model, ...buildModelOptions(flags) }, doubts: [] }
      : parseModelFlag(flags, fileContext.env);
  checkPrices(flags, [{ ...agent, model }]);
  return {
    agent: {
      ...agent,
      ...overrides,
      model,
      ...(flags.tools === undefined ? {} : { tools }),
      ...(flags.workspace === undefined ? {} : { workspace: resolve(fileContext.cwd, flags.workspace) }),
      limits: { ...agent.limits, ...limits },
    },
    warnings: [...warnings, ...modelWarnings],
    problems,
  };
}

/** Builds the changes to a definition: only the fields for which a flag is given. */
export function buildChanges(
  flags: AgentFlags,
  { cwd, env }: AgentFileContext,
): Partial<AgentDefinitionInput> {
  return {
    ...(flags.model === undefined ? {} : { model: parseModelFlag(flags, env).model }),
    ...(flags.system === undefined ? {} : { systemPrompt: readSystemPrompt(flags.system, cwd) }),
    ...(flags.tools === undefined ? {} : { tools: parseTools(flags.tools).tools }),
    ...(flags.workspace === undefined ? {} : { workspace: resolve(cwd, flags.workspace) }),
  };
}

function checkPrices({ maxCost }: AgentFlags, agents: readonly PricedAgent[]): void {
  const problem = maxCost === undefined ? undefined : findCostLimitProblem(agents);
  if (problem !== undefined) throw new UsageError(`--max-cost: ${problem}.`);
}

function buildOverrides(flags: AgentFlags, cwd: string) {
  const limits = parseLimits(flags);
  return {
    ...omitUndefined({ name: flags.name }),
    ...(flags.system === undefined ? {} : { systemPrompt: readSystemPrompt(flags.system, cwd) }),
    ...(flags.thinking === undefined ? {} : { thinking: flags.thinking as "low" }),
    ...(flags.outputSchema === undefined ? {} : { output: readOutputSchema(flags.outputSchema, cwd) }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

function buildDefaultSystemPrompt(workspace: string): string {
  return (
    `You work in the folder ${workspace}. Use your tools to inspect files before you change anything. ` +
    "Make the smallest change that completes the task, check that it works, and briefly report what you did."
  );
}

function parseModelFlag(flags: AgentFlags, env: NodeJS.ProcessEnv) {
  const name = flags.model ?? env["HOLDFAST_MODEL"];
  if (name === undefined || name === "") {
    throw new UsageError(
      `No model is given. Specify --model ${MODEL_NAMES} (or set HOLDFAST_MODEL), or an agent file with --agent FILE.`,
    );
  }
  try {
    const catalogue = readCatalogue(env);
    const model = parseModel(name, buildModelOptions(flags), catalogue);
    const known = model.provider === "local" || catalogue.find(model.provider, model.id) !== undefined;
    return { model, doubts: known ? [] : [formatUnknownModelWarning(name, model)] };
  } catch (error) {
    if (error instanceof ModelError || error instanceof CatalogueError)
      throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function formatUnknownModelWarning(
  name: string,
  { contextWindow, maxTokens }: ReturnType<typeof parseModel>,
): string {
  const [context, answer] = [contextWindow, maxTokens].map((tokens) => tokens.toLocaleString("en"));
  return `${name} is not in the model catalogue. Holdfast assumes a context of ${context} tokens and answers of up to ${answer}. \`holdfast models\` lists the known models; docs/models.md explains how to add one.`;
}

function buildModelOptions({ baseUrl, prices }: AgentFlags): ModelOptions {
  return {
    ...(baseUrl === undefined ? {} : { baseUrl: parseUrl(baseUrl) }),
    ...(prices === undefined ? {} : { cost: parsePrices(prices) }),
  };
}

export function parseUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--base-url "${text}" is not a URL such as https://HOST/v1`);
  }
  return text.replace(/\/+$/, "");
}

function parsePrices(text: string) {
  const parts = text.split(",").map((part) => Number(part.trim() === "" ? Number.NaN : part));
  const [input, output] = parts;
  if (parts.length !== 2 || !(input! >= 0) || !(output! >= 0)) {
    throw new UsageError(`--prices "${text}" must be two numbers, such as --prices 3,15`);
  }
  return { input: input!, output: output!, cacheRead: input!, cacheWrite: input! };
}

function parseTools(text: string | undefined): { tools: string[]; warnings: string[] } {
  if (text === undefined) return { tools: [...BUILT_IN_TOOLS], warnings: [] };
  if (text === "none") return { tools: [], warnings: [] };
  const tools = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const warnings = tools
    .filter((name) => !KNOWN_TOOLS.includes(TOOL_ALIASES[name] ?? name))
    .map((name) => {
      const near = findNearestName(name, KNOWN_TOOLS);
      const hint =
        near === undefined ? `Built-in tools: ${BUILT_IN_TOOLS.join(", ")}.` : `Did you mean "${near}"?`;
      return `Tool "${name}" is not built in; the agent gets it only if the worker has it. ${hint}`;
    });
  return { tools, warnings };
}

function readOutputSchema(name: string, cwd: string) {
  const file = resolve(cwd, name);
  try {
    return { type: "json-schema" as const, schema: JSON.parse(readFileSync(file, "utf8")) };
  } catch (error) {
    throw new UsageError(
      `The file ${file} of --output-schema cannot be read as a JSON Schema: ${(error as Error).message}`,
    );
  }
}

function readSystemPrompt(text: string, cwd: string): string {
  if (!text.startsWith("@")) return text;
  const file = resolve(cwd, text.slice(1));
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`The file ${file} of --system cannot be read: ${(error as Error).message}`);
  }
}
