import { buildLoopSegment } from "../../conversation/loop-segment.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { SpawnRef } from "../../schema/record.ts";
import type { LoopOpening } from "../../store/transcript/loop.ts";
import type { ToolRegistry, ToolResolution } from "../../tools/tool-registry.ts";
import { resolveAgentTools } from "../model/available-tools.ts";
import { DefinitionError } from "../step/failure.ts";

// What a loop is opened with, for both the activity and the scenario player without a server.

/** Returns the tools that a definition names. Throws when it requires all of them and some are unknown. */
export function resolveOfferedTools(
  definition: AgentDefinition,
  registry: Pick<ToolRegistry, "resolve" | "sources">,
): Extract<ToolResolution, { ok: true }> {
  const resolved = resolveAgentTools(definition, registry, { strict: definition.strict });
  if (!resolved.ok) throw new DefinitionError(resolved.errors.join("; "));
  return resolved;
}

/** Builds the kind of the loop and the position where it continues. */
export function buildLoopOpening(
  definition: AgentDefinition,
  continuation: Continuation | undefined,
  spawn?: SpawnRef,
): Pick<LoopOpening, "segment" | "kind" | "at" | "spawn" | "scope"> {
  return {
    // ID-02, SUB-11.
    segment: spawn === undefined ? buildLoopSegment(definition) : "sub",
    ...omitUndefined({ spawn }),
    ...(definition.sessionScope === "persistent" ? { scope: definition.sessionScope } : {}),
    kind: continuation?.kind ?? { type: "initial" },
    ...omitUndefined({ at: continuation?.at }),
  };
}
