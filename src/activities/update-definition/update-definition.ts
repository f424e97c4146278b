import { compareDefinitions, findChangedLimits } from "../../core/machine/definition-changes.ts";
import type { DefinitionUpdateDigest } from "../../core/machine/state/digest.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Limits } from "../../schema/limits.ts";
import type { UpdateDefinitionInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { buildLoopTerms, checkDefinition } from "../open-loop/check-definition.ts";
import { saveChildDefinitions } from "../open-loop/child-definitions.ts";
import { pinSources } from "../open-loop/pin-sources.ts";
import { buildPinnedDigest } from "../open-loop/pinned-digest.ts";
import { DefinitionError, OutputError, toFailure } from "../step/failure.ts";
import { getCurrentStep } from "../step/step.ts";
import { runStoredStep, type StepResult } from "../step/stored-step.ts";

/** The most bytes of the reason why a run keeps its definition, including the dots of a cut. */
const REASON_BYTES = 512;

/** The most warnings that a worker adds; those of the written table are short. */
const MAX_WARNINGS = 16;

/**
 * Pins a run to another definition, after the checks of a loop's opening, or reports why the run keeps its own.
 * Sub-agents that start afterwards are those of the new definition.
 */
export async function updateDefinition(
  input: UpdateDefinitionInput,
  dependencies: Dependencies,
): Promise<DefinitionUpdateDigest> {
  const step = getCurrentStep(input, dependencies.process);
  try {
    return await runStoredStep(step, input, dependencies, () => buildUpdate(input, dependencies));
  } catch (error) {
    throw toFailure(error);
  }
}

async function buildUpdate(
  input: UpdateDefinitionInput,
  dependencies: Dependencies,
): Promise<StepResult<DefinitionUpdateDigest>> {
  const { definitions } = dependencies;
  try {
    const [from, given] = await Promise.all([
      definitions.read(input.from),
      definitions.readAccepted(input.to),
    ]);
    const { changes, warnings, rejections } = compareDefinitions(from, given);
    if (rejections.length > 0) return rejectUpdate(rejections.join("; "));
    const { definition: to, warnings: found } = await pinSources(given, from.pinned, dependencies);
    const checked = await checkDefinition(to, dependencies, found);
    const limits = findChangedLimits(from.limits, to.limits);
    const all = { changes, warnings: [...warnings, ...checked.warnings].slice(0, MAX_WARNINGS) };
    return await pinDefinition(to, input, { ...all, limits, tools: checked.tools }, dependencies);
  } catch (error) {
    if (error instanceof DefinitionError || error instanceof OutputError) return rejectUpdate(error.message);
    throw error;
  }
}

async function pinDefinition(
  to: AgentDefinition,
  input: UpdateDefinitionInput,
  {
    tools,
    limits,
    changes,
    warnings,
  }: { readonly limits: Partial<Limits> } & Awaited<ReturnType<typeof checkDefinition>> &
    Pick<ReturnType<typeof compareDefinitions>, "changes" | "warnings">,
  dependencies: Dependencies,
): Promise<StepResult<DefinitionUpdateDigest>> {
  const { transcript } = dependencies;
  const definitionHash = await transcript.saveDefinition(to);
  const children = await saveChildDefinitions(to, transcript);
  const terms = JSON.stringify(buildLoopTerms(to, { ...input.limits, ...limits }, tools, dependencies));
  const result: DefinitionUpdateDigest = {
    branch: "",
    type: "updated",
    pinned: buildPinnedDigest(to, definitionHash, tools, children, dependencies),
    limits,
    changes,
    warnings,
    terms: await transcript.putText(terms, Date.now()),
  };
  const definition = { definitionHash, agentName: to.name, model: to.model.id, terms };
  return { result, entries: [], definition };
}

function rejectUpdate(reason: string): StepResult<DefinitionUpdateDigest> {
  return {
    result: { branch: "", type: "rejected", reason: redactPreview(reason, REASON_BYTES - "...".length) },
    entries: [],
  };
}
