import { buildChildFacts } from "../../../activities/open-loop/child-definitions.ts";
import { buildPinnedDigest } from "../../../activities/open-loop/pinned-digest.ts";
import { DefinitionError } from "../../../activities/step/failure.ts";
import { compareDefinitions, findChangedLimits } from "../../../core/machine/definition-changes.ts";
import type { UpdateDefinitionCommand } from "../../../core/machine/state/activity-command.ts";
import type { DefinitionUpdateDigest } from "../../../core/machine/state/digest.ts";
import { checkOpening } from "./open-loop.ts";
import type { Made } from "./results.ts";
import type { Stage } from "./stage.ts";

/** Updates the run to one of the stage's definitions, by its hash. */
export function moveDefinition(stage: Stage, { to: hash }: UpdateDefinitionCommand, branch: string): Made {
  try {
    return {
      happening: { type: "definition-updated", digest: { ...updateDefinition(stage, hash), branch } },
    };
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return rejectUpdate(error.message, branch);
  }
}

function updateDefinition(stage: Stage, hash: string): DefinitionUpdateDigest {
  const from = stage.definition;
  const to = stage.definitions.get(hash);
  if (to === undefined) throw new DefinitionError(`The definition ${hash} does not exist`);
  const { changes, warnings, rejections } = compareDefinitions(from, to);
  if (rejections.length > 0) throw new DefinitionError(rejections.join("; "));
  const { tools, warnings: found } = checkOpening(to, stage);
  stage.moveTo(to, hash);
  return {
    branch: "",
    type: "updated",
    pinned: buildPinnedDigest(to, hash, tools, buildChildFacts(to)),
    limits: findChangedLimits(from.limits, to.limits),
    changes,
    warnings: [...warnings, ...found],
    terms: hash,
  };
}

function rejectUpdate(reason: string, branch: string): Made {
  return { happening: { type: "definition-updated", digest: { branch, type: "rejected", reason } } };
}
