import type { AgentDefinition } from "../schema/definition.ts";

/**
 * Builds the middle of a loop id (ID-02): the definition's own `configId`, or `{provider}.{model}[.thinking]`.
 *
 * The thinking level is included when it is not off.
 */
export function buildLoopSegment(
  definition: Pick<AgentDefinition, "configId" | "model" | "thinking">,
): string {
  if (definition.configId !== undefined) return definition.configId;
  const slug = definition.model.id.replace(/[^A-Za-z0-9._-]+/g, "-");
  const thinking = definition.thinking === "off" ? "" : `.${definition.thinking}`;
  return `${definition.model.provider}.${slug}${thinking}`;
}
