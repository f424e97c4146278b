import type { AgentDefinition } from "../../schema/definition.ts";
import type { WorkMode } from "../../schema/mode.ts";

/** What a workflow of Holdfast does. `message` only delivers a message to an idle session. */
export type RunKind = "session" | "message" | "evaluation" | "exploration" | WorkMode["type"];

/**
 * Builds the memo of a workflow: what it is, and the agent and the model with which it begins. A memo has no text of a
 * conversation and no secret.
 */
export function buildMemo(kind: RunKind, definition?: AgentDefinition): Record<string, string> {
  if (definition === undefined) return { kind };
  const { name, model } = definition;
  return { kind, agent: name, model: `${model.provider}/${model.id}` };
}
