import { changedLimits, definitionChanges } from "../../core/machine/definition-changes.ts";
import type { MoveDigest } from "../../core/machine/state/digest.ts";
import { shownBriefly } from "../../platform/text/redact.ts";
import type { AgentDefinition, Limits } from "../../schema/definition.ts";
import type { MoveDefinitionInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkDefinition, termsOf } from "../open-loop/check-definition.ts";
import { saveChildDefinitions } from "../open-loop/child-definitions.ts";
import { pinOutside } from "../open-loop/pin-outside.ts";
import { pinned } from "../open-loop/pinned.ts";
import { asFailure, DefinitionError, OutputError } from "../step/failure.ts";
import { currentStep } from "../step/step.ts";
import { type Made, storedStep } from "../step/stored-step.ts";

/** Of why a run keeps the definition that it has, in bytes, the dots of a cut included. */
const REASON_BYTES = 512;

/** Of one that a worker gives; those of the written table are short. */
const MAX_WARNINGS = 16;

/**
 * Pins a run to another definition, after the checks that a loop opens with; or says why it keeps its own. Sub-agents
 * that start from now on are those of the new one.
 */
export async function moveDefinition(
  input: MoveDefinitionInput,
  dependencies: Dependencies,
): Promise<MoveDigest> {
  const step = currentStep(input, dependencies.process);
  try {
    return await storedStep(step, input, dependencies, () => moved(input, dependencies));
  } catch (error) {
    throw asFailure(error);
  }
}

async function moved(input: MoveDefinitionInput, dependencies: Dependencies): Promise<Made<MoveDigest>> {
  const { definitions } = dependencies;
  try {
    const [from, given] = await Promise.all([
      definitions.byHash(input.from),
      definitions.acceptedByHash(input.to),
    ]);
    const { changes, warnings, refusals } = definitionChanges(from, given);
    if (refusals.length > 0) return kept(refusals.join("; "));
    const { definition: to, warnings: found } = await pinOutside(given, from.pinned, dependencies);
    const checked = await checkDefinition(to, dependencies, found);
    const limits = changedLimits(from.limits, to.limits);
    const all = { changes, warnings: [...warnings, ...checked.warnings].slice(0, MAX_WARNINGS) };
    return await pinnedTo(to, input, { ...all, limits, tools: checked.tools }, dependencies);
  } catch (error) {
    if (error instanceof DefinitionError || error instanceof OutputError) return kept(error.message);
    throw error;
  }
}

async function pinnedTo(
  to: AgentDefinition,
  input: MoveDefinitionInput,
  {
    tools,
    limits,
    changes,
    warnings,
  }: { readonly limits: Partial<Limits> } & Awaited<ReturnType<typeof checkDefinition>> &
    Pick<ReturnType<typeof definitionChanges>, "changes" | "warnings">,
  dependencies: Dependencies,
): Promise<Made<MoveDigest>> {
  const { transcript } = dependencies;
  const definitionHash = await transcript.saveDefinition(to);
  const children = await saveChildDefinitions(to, transcript);
  const terms = JSON.stringify(termsOf(to, { ...input.limits, ...limits }, tools, dependencies));
  const result: MoveDigest = {
    branch: "",
    type: "moved",
    pinned: pinned(to, definitionHash, tools, children),
    limits,
    changes,
    warnings,
    terms: await transcript.putText(terms, Date.now()),
  };
  const definition = { definitionHash, agentName: to.name, model: to.model.id, terms };
  return { result, entries: [], definition };
}

function kept(reason: string): Made<MoveDigest> {
  return {
    result: { branch: "", type: "refused", reason: shownBriefly(reason, REASON_BYTES - "...".length) },
    entries: [],
  };
}
