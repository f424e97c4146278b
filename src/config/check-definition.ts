import { check } from "../schema/check.ts";
import { AgentDefinition } from "../schema/definition.ts";

export type DefinitionCheck =
  | { readonly ok: true; readonly definition: AgentDefinition }
  /** Every problem, a sentence each. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Makes a definition whole, or says everything that is wrong with it at once; misspelt keys by name. */
export function checkDefinition(input: unknown): DefinitionCheck {
  const checked = check(AgentDefinition, input, "definition");
  return checked.ok ? { ok: true, definition: checked.value } : checked;
}
