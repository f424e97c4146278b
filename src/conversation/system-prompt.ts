import type { AgentDefinition } from "../schema/definition.ts";

/** Builds the system prompt: the definition's text, followed by those of its sources. */
export function buildSystemPrompt({
  systemPrompt,
  pinned,
}: Pick<AgentDefinition, "systemPrompt" | "pinned">): string {
  return [systemPrompt, pinned?.prompt ?? ""].filter((text) => text.trim() !== "").join("\n\n");
}
