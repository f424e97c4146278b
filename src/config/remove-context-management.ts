import { NO_LIMITS } from "../core/budget/limits.ts";
import type { AgentDefinitionInput } from "../schema/definition.ts";

/** Removes compaction and limits: the agent's context is never compacted, and no limit ends its loops (CTX-17). */
export function removeContextManagement(agent: AgentDefinitionInput): AgentDefinitionInput {
  return { ...agent, context: null, limits: NO_LIMITS };
}
