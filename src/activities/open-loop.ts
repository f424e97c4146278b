import { stat } from "node:fs/promises";
import { Context } from "@temporalio/activity";
import type { LoopDigest } from "../core/digest.ts";
import { shownBriefly } from "../core/redact.ts";
import { BUILT_IN_STRATEGIES } from "../hooks/compaction-strategy.ts";
import { resolveHeaders, resolveSecrets } from "../providers/secrets.ts";
import { type AgentDefinition, Continuation } from "../schema/definition.ts";
import { type Tool, toolDefinition } from "../tools/tool.ts";
import type { LoopTerms } from "../transcript/loop.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { OpenLoopInput } from "./activities.ts";
import { checkHooks } from "./ask-hooks.ts";
import { unloadMessage } from "./cargo.ts";
import { saveChildDefinitions } from "./child-definitions.ts";
import { mustBeContinuable } from "./continuable.ts";
import { parsed, parsedDefinition } from "./definitions.ts";
import type { Dependencies } from "./dependencies.ts";
import { asFailure, DefinitionError } from "./failure.ts";
import { checkNames } from "./known-names.ts";
import { letIn } from "./let-in.ts";
import { offeredTools, openingOf } from "./opening.ts";
import { limitsOf, pinned } from "./pinned.ts";
import { checkContextFunctions } from "./shape-context.ts";
import { currentStep } from "./step.ts";
import { checkOutput, outputPlan } from "./structured-output.ts";
import { viewAtStart } from "./view-at-start.ts";

/** Of what a loop is warned of: a definition may name as many tools as it likes. */
const MAX_WARNINGS = 16;
const WARNING_BYTES = 253;

/**
 * Pins what the loop runs with and opens its record (design 3.13). All that can be known to be wrong before a model
 * is paid is found here.
 */
export async function openLoop(input: OpenLoopInput, dependencies: Dependencies): Promise<LoopDigest> {
  const { transcript } = dependencies;
  try {
    const definition = await asked(input, dependencies);
    const { tools, warnings } = offered(definition, dependencies);
    const { inputFilters } = definition;
    checkModel(definition, dependencies);
    checkOutput(definition, dependencies.providers, tools);
    checkNames("input filter", inputFilters, dependencies.filters.names);
    checkContextFunctions(definition, dependencies);
    checkCompaction(definition, dependencies);
    checkHooks(definition, dependencies);
    await checkWorkspace(definition.workspace);
    const definitionHash = await transcript.saveDefinition(definition);
    const children = await saveChildDefinitions(definition, transcript);
    const prompts = await Promise.all(
      input.prompts.map(async ({ origin, ...prompt }) => ({
        ...(await unloadMessage(prompt, transcript)),
        origin,
      })),
    );
    const step = currentStep(input, dependencies.process);
    const continuation =
      input.continuation === undefined ? undefined : parsed("continuation", Continuation, input.continuation);
    if (continuation !== undefined) await mustGoOn(step.session, continuation, prompts.length, transcript);
    const { cancellationSignal } = Context.current();
    const asking = { definition, dependencies, signal: cancellationSignal };
    const { part } = input;
    const inbox = async () => (part === undefined ? await transcript.inbox(step.session) : []);
    const words = await letIn(step, prompts, inbox, continuation, asking);
    // An earlier execution of this step may have heard something else of hooks and filters: what it has stored counts.
    const opened = await transcript.openLoop({
      step,
      atMs: Date.now(),
      definitionHash,
      agentName: definition.name,
      model: definition.model.id,
      ...openingOf(definition, continuation, input.spawn),
      ...words,
      ...(part === undefined ? {} : { part }),
      terms: termsOf(definition, continuation, tools, dependencies),
    });
    const view =
      input.number === 0 ? await viewAtStart(opened, tools, step.session, dependencies) : opened.view;
    return {
      ...opened,
      ...(view === undefined ? {} : { view }),
      ...pinned(definition, definitionHash, tools, children, continuation),
      warnings,
    } as LoopDigest;
  } catch (error) {
    throw asFailure(error);
  }
}

function termsOf(
  definition: AgentDefinition,
  continuation: Continuation | undefined,
  tools: readonly Tool[],
  { providers }: Dependencies,
): LoopTerms {
  const plan = outputPlan(definition, providers);
  return {
    tools: tools.map(toolDefinition),
    limits: limitsOf(definition, continuation),
    ...(plan === undefined ? {} : { output: plan.road }),
  };
}

async function mustGoOn(
  session: string,
  { at, kind }: Continuation,
  prompts: number,
  transcript: Transcript,
): Promise<void> {
  const record = await transcript.session(session);
  const branch = at?.branch ?? record?.headBranch ?? "";
  const entries =
    record === undefined
      ? undefined
      : await transcript.entries(session, branch, 0, at?.position ?? Number.MAX_SAFE_INTEGER);
  mustBeContinuable(session, entries, kind.type === "compaction" || prompts > 0);
}

async function asked(input: OpenLoopInput, { definitions }: Dependencies): Promise<AgentDefinition> {
  if (input.definition === undefined) {
    if (input.definitionHash !== undefined) return await definitions.byHash(input.definitionHash);
    throw new DefinitionError("The run names no definition: start it with `definition` or `definitionHash`");
  }
  return parsedDefinition(input.definition);
}

function offered(definition: AgentDefinition, { tools, log }: Dependencies) {
  const resolved = offeredTools(definition, tools);
  const warnings = resolved.warnings.slice(0, MAX_WARNINGS).map((one) => shownBriefly(one, WARNING_BYTES));
  for (const warning of warnings) log.warn({ agent: definition.name }, warning);
  return { ...resolved, warnings };
}

function checkCompaction({ context }: AgentDefinition, { compactions }: Dependencies): void {
  const asked = context === null ? [] : [context.compaction.strategy];
  checkNames(compactions.what, asked, [...BUILT_IN_STRATEGIES, ...compactions.names]);
}

function checkModel({ model }: AgentDefinition, { providers, secrets }: Dependencies): void {
  if (!providers.has(model.api)) {
    throw new DefinitionError(
      `This worker does not speak ${model.api}; it speaks ${providers.protocols().join(", ")}`,
    );
  }
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
