import { stat } from "node:fs/promises";
import { listToolNames, listUnusedTools } from "../../core/permission/unused-tools.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { prepareSecrets, resolveHeaders, resolveSecrets } from "../../models/secrets.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import { BUILT_IN_STRATEGIES } from "../../schema/context.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Limits } from "../../schema/limits.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { SandboxMode } from "../../schema/sandbox.ts";
import type { LoopTerms } from "../../store/transcript/loop.ts";
import { SandboxUnavailableError } from "../../tools/sandbox/sandboxes.ts";
import { type Tool, toToolDefinition } from "../../tools/tool.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkHooks } from "../hooks/ask-hooks.ts";
import { listModels } from "../model/model-fallback.ts";
import { checkContextFunctions } from "../model/shape-context.ts";
import { buildOutputPlan, checkOutput } from "../model/structured-output.ts";
import { checkNames } from "../step/check-names.ts";
import { DefinitionError } from "../step/failure.ts";
import { resolveOfferedTools } from "./loop-opening.ts";
import { getProcessSandbox } from "./pinned-digest.ts";

/** The most warnings of a loop, because a definition may name any number of tools. */
const MAX_WARNINGS = 16;
const WARNING_BYTES = 253;

export type CheckedDefinition = { readonly tools: readonly Tool[]; readonly warnings: readonly string[] };

/**
 * Returns what this worker offers an agent. Finds every problem that can be found before a model is paid.
 *
 * @param found - Warnings that already exist.
 */
export async function checkDefinition(
  definition: AgentDefinition,
  dependencies: Dependencies,
  found: readonly string[] = [],
): Promise<CheckedDefinition> {
  const { tools, warnings } = resolveTools(definition, found, dependencies);
  const { inputFilters } = definition;
  for (const model of listModels(definition)) {
    await checkModel(model, dependencies);
    checkOutput({ ...definition, model }, dependencies.providers, tools);
  }
  checkNames("input filter", inputFilters, dependencies.filters.names);
  checkContextFunctions(definition, dependencies);
  checkCompaction(definition, dependencies);
  checkHooks(definition, dependencies);
  await checkSandbox(definition, tools, dependencies);
  await checkWorkspace(definition.workspace);
  return { tools, warnings };
}

/** Logs a warning for each permission rule of a tool that the agent does not have. */
export function logUnusedRules(definition: AgentDefinition, { log }: Pick<Dependencies, "log">): void {
  const names = listToolNames(definition);
  for (const rule of definition.permissions.rules) {
    for (const tool of listUnusedTools(rule, names))
      log.warn(
        { agent: definition.name, tool },
        "a permission rule names a tool that is off; it never applies",
      );
  }
}

/** Builds the terms of a loop that its definition does not contain. */
export function buildLoopTerms(
  definition: AgentDefinition,
  limits: Limits,
  tools: readonly Tool[],
  { providers }: Pick<Dependencies, "providers">,
): LoopTerms {
  const [output, ...fallbackOutputs] = listModels(definition).flatMap(
    (model) => buildOutputPlan({ ...definition, model }, providers)?.mode ?? [],
  );
  return {
    tools: tools.map(toToolDefinition),
    limits,
    ...omitUndefined({ output }),
    ...(fallbackOutputs.length === 0 ? {} : { fallbackOutputs }),
  };
}

function resolveTools(
  definition: AgentDefinition,
  found: readonly string[],
  { tools, log }: Dependencies,
): CheckedDefinition {
  const resolved = resolveOfferedTools(definition, tools);
  const warnings = [...resolved.warnings, ...found]
    .slice(0, MAX_WARNINGS)
    .map((one) => redactPreview(one, WARNING_BYTES));
  for (const warning of warnings) log.warn({ agent: definition.name }, warning);
  return { ...resolved, warnings };
}

/** Throws for a strategy that is not registered, which would otherwise fail at the first compaction. */
export function checkCompaction(
  { context }: Pick<AgentDefinition, "context">,
  { compactions }: Pick<Dependencies, "compactions">,
): void {
  const asked = context === null ? [] : [context.compaction.strategy];
  checkNames(compactions.label, asked, [...BUILT_IN_STRATEGIES, ...compactions.names]);
}

async function checkModel(model: ModelConfig, { providers, secrets }: Dependencies): Promise<void> {
  if (!providers.has(model.api)) {
    throw new DefinitionError(
      `This worker does not support the API ${model.api}; it supports ${providers.listProtocols().join(", ")}`,
    );
  }
  await prepareSecrets(model, secrets).catch((error: unknown) => {
    // The user who starts a run gets the error at once; a run that is at work would wait.
    throw error instanceof ProviderError ? new ProviderError("auth", error.message) : error;
  });
  if (model.apiKey !== undefined) resolveSecrets(model.apiKey, secrets);
  resolveHeaders(model.headers, secrets);
}

/** Throws where this worker's host cannot make a sandbox that processes of the agent need. */
async function checkSandbox(
  definition: AgentDefinition,
  tools: readonly Tool[],
  { sandboxes }: Pick<Dependencies, "sandboxes">,
): Promise<void> {
  const { mode: own } = sandboxes.getSettings(definition.sandbox);
  for (const mode of listSandboxModes(definition, tools, own)) {
    await sandboxes.check({ mode }).catch((error: unknown) => {
      throw error instanceof SandboxUnavailableError ? new DefinitionError(error.message) : error;
    });
  }
}

/**
 * Lists the sandboxes in which hooks and tools start processes.
 *
 * @param own - The agent's.
 */
function listSandboxModes(
  { hooks }: AgentDefinition,
  tools: readonly Tool[],
  own: SandboxMode,
): ReadonlySet<SandboxMode> {
  const areCommands = Object.values(hooks).some((uses) =>
    (uses ?? []).some((use) => typeof use !== "string" && "command" in use),
  );
  return new Set([
    ...(areCommands ? [own] : []),
    ...tools.flatMap((tool) => getProcessSandbox(tool, own) ?? []),
  ]);
}

async function checkWorkspace(workspace: string | undefined): Promise<void> {
  if (workspace === undefined) return;
  const found = await stat(workspace).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    throw new DefinitionError(
      `The workspace ${workspace} cannot be used on this worker's host: ${found.code ?? found.message}`,
    );
  }
  if (!found.isDirectory()) throw new DefinitionError(`The workspace ${workspace} is not a folder`);
}
