import type { AgentDefinition } from "../../schema/definition.ts";
import { canonicalJson, hashOf } from "../../store/transcript/sql/canonical.ts";

/** What a run of this definition is pinned to: SHA-256 of its canonical JSON, in hex. */
export function definitionHash(definition: AgentDefinition): string {
  return hashOf(canonicalJson(definition));
}
