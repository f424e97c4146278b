import { NO_LIMITS } from "../core/budget/limits.ts";
import type { AgentDefinitionInput } from "../schema/definition.ts";

/** The same agent without bounds of ours: its context is never made smaller, and no limit ends its loops (CTX-17). */
export function removeContextManagement(agent: AgentDefinitionInput): AgentDefinitionInput {
  return { ...agent, context: null, limits: NO_LIMITS };
}
