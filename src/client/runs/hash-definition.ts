import type { AgentDefinition } from "../../schema/definition.ts";
import { formatCanonicalJson, hashText } from "../../store/transcript/sql/canonical-json.ts";

/** Returns the hash that pins a run to its definition: SHA-256 of the canonical JSON, in hex. */
export function hashDefinition(definition: AgentDefinition): string {
  return hashText(formatCanonicalJson(definition));
}
