import { childFacts } from "../../../activities/child-definitions.ts";
import { DefinitionError } from "../../../activities/failure.ts";
import { pinned } from "../../../activities/pinned.ts";
import type { MoveDefinitionCommand } from "../../../core/command.ts";
import { changedLimits, definitionChanges } from "../../../core/definition-changes.ts";
import type { MoveDigest } from "../../../core/digest.ts";
import { checked } from "./open-loop.ts";
import type { Made } from "./results.ts";
import type { Stage } from "./stage.ts";

/** Moves the run to one of the definitions that the stage knows by their hashes. */
export function moveDefinition(stage: Stage, { to: hash }: MoveDefinitionCommand, branch: string): Made {
  try {
    return { happening: { type: "definition-moved", digest: { ...moved(stage, hash), branch } } };
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return kept(error.message, branch);
  }
}

function moved(stage: Stage, hash: string): MoveDigest {
  const from = stage.definition;
  const to = stage.definitions.get(hash);
  if (to === undefined) throw new DefinitionError(`There is no definition ${hash}`);
  const { changes, warnings, refusals } = definitionChanges(from, to);
  if (refusals.length > 0) throw new DefinitionError(refusals.join("; "));
  const { tools, warnings: found } = checked(to, stage);
  stage.moveTo(to, hash);
  return {
    branch: "",
    type: "moved",
    pinned: pinned(to, hash, tools, childFacts(to)),
    limits: changedLimits(from.limits, to.limits),
    changes,
    warnings: [...warnings, ...found],
    terms: hash,
  };
}

function kept(reason: string, branch: string): Made {
  return { happening: { type: "definition-moved", digest: { branch, type: "refused", reason } } };
}
