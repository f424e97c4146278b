import type { AgentDefinition } from "../schema/definition.ts";

/** What a model is told first: the definition's words, then those of its sources. */
export function buildSystemPrompt({
  systemPrompt,
  pinned,
}: Pick<AgentDefinition, "systemPrompt" | "pinned">): string {
  return [systemPrompt, pinned?.prompt ?? ""].filter((text) => text.trim() !== "").join("\n\n");
}
