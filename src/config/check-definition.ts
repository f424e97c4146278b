import { check } from "../schema/check.ts";
import { AgentDefinition } from "../schema/definition.ts";

export type DefinitionCheck =
  | { readonly ok: true; readonly definition: AgentDefinition }
  /** Every problem, one sentence each. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Completes a definition with defaults, or lists all of its problems, including misspelt keys. */
export function checkDefinition(input: unknown): DefinitionCheck {
  const checked = check(AgentDefinition, input, "definition");
  return checked.ok ? { ok: true, definition: checked.value } : checked;
}
