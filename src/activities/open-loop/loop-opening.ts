import { buildLoopSegment } from "../../conversation/loop-segment.ts";
import type { AgentDefinition, Continuation } from "../../schema/definition.ts";
import type { SpawnRef } from "../../schema/record.ts";
import type { LoopOpening } from "../../store/transcript/loop.ts";
import type { ToolRegistry, ToolResolution } from "../../tools/tool-registry.ts";
import { resolveAgentTools } from "../model/available-tools.ts";
import { DefinitionError } from "../step/failure.ts";

// What a loop is opened with, whoever opens it: the activity, or the scenario player without a server.

/** The tools that a definition names; an error where it wants all of them and some are not there. */
export function resolveOfferedTools(
  definition: AgentDefinition,
  registry: Pick<ToolRegistry, "resolve" | "sources">,
): Extract<ToolResolution, { ok: true }> {
  const resolved = resolveAgentTools(definition, registry, { strict: definition.strict });
  if (!resolved.ok) throw new DefinitionError(resolved.errors.join("; "));
  return resolved;
}

/** What kind of loop it is and where it goes on. */
export function buildLoopOpening(
  definition: AgentDefinition,
  continuation: Continuation | undefined,
  spawn?: SpawnRef,
): Pick<LoopOpening, "segment" | "kind" | "at" | "spawn" | "scope"> {
  return {
    // ID-02, SUB-11.
    segment: spawn === undefined ? buildLoopSegment(definition) : "sub",
    ...(spawn === undefined ? {} : { spawn }),
    ...(definition.sessionScope === "persistent" ? { scope: definition.sessionScope } : {}),
    kind: continuation?.kind ?? { type: "initial" },
    ...(continuation?.at === undefined ? {} : { at: continuation.at }),
  };
}
