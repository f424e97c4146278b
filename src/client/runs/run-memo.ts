import type { AgentDefinition } from "../../schema/definition.ts";
import type { WorkMode } from "../../schema/mode.ts";
import type { ClientLink } from "../connection/client-link.ts";

/** What a workflow of Holdfast does. `message` only delivers a message to an idle session. */
export type RunKind = "session" | "message" | "evaluation" | "exploration" | "suite" | WorkMode["type"];

/**
 * Builds the memo of a workflow: what it is, and the agent and the model with which it begins. A memo has no text of a
 * conversation and no secret. With encryption there is none: a client without the keys could list no workflow of the
 * namespace, since a list decodes the memo of each.
 */
export function buildMemo(
  { isEncrypted }: Pick<ClientLink, "isEncrypted">,
  kind: RunKind,
  definition?: AgentDefinition,
): Record<string, string> | undefined {
  if (isEncrypted) return undefined;
  if (definition === undefined) return { kind };
  const { name, model } = definition;
  return { kind, agent: name, model: `${model.provider}/${model.id}` };
}
