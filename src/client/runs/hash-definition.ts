import type { AgentDefinition } from "../../schema/definition.ts";
import { formatCanonicalJson, hashText } from "../../store/transcript/sql/canonical-json.ts";

/** What a run of this definition is pinned to: SHA-256 of its canonical JSON, in hex. */
export function hashDefinition(definition: AgentDefinition): string {
  return hashText(formatCanonicalJson(definition));
}
