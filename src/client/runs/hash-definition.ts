import { formatCanonicalJson } from "../../platform/text/canonical-json.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { hashText } from "../../store/transcript/sql/hash-text.ts";

/** Returns the hash that pins a run to its definition: SHA-256 of the canonical JSON, in hex. */
export function hashDefinition(definition: AgentDefinition): string {
  return hashText(formatCanonicalJson(definition));
}
