import { stat } from "node:fs/promises";
import { ProviderError } from "../../models/provider-error.ts";
import { prepareSecrets, resolveHeaders, resolveSecrets } from "../../models/secrets.ts";
import { shownBriefly } from "../../platform/text/redact.ts";
import { BUILT_IN_STRATEGIES } from "../../schema/context.ts";
import type { AgentDefinition, Limits } from "../../schema/definition.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { LoopTerms } from "../../store/transcript/loop.ts";
import { type Tool, toolDefinition } from "../../tools/tool.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkHooks } from "../hooks/ask-hooks.ts";
import { modelsOf } from "../model/fallback.ts";
import { checkContextFunctions } from "../model/shape-context.ts";
import { checkOutput, outputPlan } from "../model/structured-output.ts";
import { DefinitionError } from "../step/failure.ts";
import { checkNames } from "../step/known-names.ts";
import { offeredTools } from "./opening.ts";

/** Of what a loop is warned of: a definition may name as many tools as it likes. */
const MAX_WARNINGS = 16;
const WARNING_BYTES = 253;

export type Checked = { readonly tools: readonly Tool[]; readonly warnings: readonly string[] };

/**
 * What this worker offers an agent. All that can be known to be wrong before a model is paid is found here.
 *
 * @param found - Warnings that there are already.
 */
export async function checkDefinition(
  definition: AgentDefinition,
  dependencies: Dependencies,
  found: readonly string[] = [],
): Promise<Checked> {
  const { tools, warnings } = offered(definition, found, dependencies);
  const { inputFilters } = definition;
  for (const model of modelsOf(definition)) {
    await checkModel(model, dependencies);
    checkOutput({ ...definition, model }, dependencies.providers, tools);
  }
  checkNames("input filter", inputFilters, dependencies.filters.names);
  checkContextFunctions(definition, dependencies);
  checkCompaction(definition, dependencies);
  checkHooks(definition, dependencies);
  await checkWorkspace(definition.workspace);
  return { tools, warnings };
}

/** What a loop runs with, and its definition does not say. */
export function termsOf(
  definition: AgentDefinition,
  limits: Limits,
  tools: readonly Tool[],
  { providers }: Pick<Dependencies, "providers">,
): LoopTerms {
  const [output, ...fallbackOutputs] = modelsOf(definition).flatMap(
    (model) => outputPlan({ ...definition, model }, providers)?.road ?? [],
  );
  return {
    tools: tools.map(toolDefinition),
    limits,
    ...(output === undefined ? {} : { output }),
    ...(fallbackOutputs.length === 0 ? {} : { fallbackOutputs }),
  };
}

function offered(
  definition: AgentDefinition,
  found: readonly string[],
  { tools, log }: Dependencies,
): Checked {
  const resolved = offeredTools(definition, tools);
  const warnings = [...resolved.warnings, ...found]
    .slice(0, MAX_WARNINGS)
    .map((one) => shownBriefly(one, WARNING_BYTES));
  for (const warning of warnings) log.warn({ agent: definition.name }, warning);
  return { ...resolved, warnings };
}

/** A strategy that nobody has registered would be missed at the first compaction. */
export function checkCompaction(
  { context }: Pick<AgentDefinition, "context">,
  { compactions }: Pick<Dependencies, "compactions">,
): void {
  const asked = context === null ? [] : [context.compaction.strategy];
  checkNames(compactions.what, asked, [...BUILT_IN_STRATEGIES, ...compactions.names]);
}

async function checkModel(model: ModelConfig, { providers, secrets }: Dependencies): Promise<void> {
  if (!providers.has(model.api)) {
    throw new DefinitionError(
      `This worker does not speak ${model.api}; it speaks ${providers.protocols().join(", ")}`,
    );
  }
  await prepareSecrets(model, secrets).catch((error: unknown) => {
    // Whoever starts a run is told at once; one that is at work would wait.
    throw error instanceof ProviderError ? new ProviderError("auth", error.message) : error;
  });
  if (model.apiKey !== undefined) resolveSecrets(model.apiKey, secrets);
  resolveHeaders(model.headers, secrets);
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
