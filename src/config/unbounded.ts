import type { AgentDefinitionInput } from "../schema/definition.ts";

const NO_LIMITS = { maxTurns: null, maxTotalTokens: null, maxDurationMs: null, maxCostUsd: null };

/** The same agent without bounds of ours: its context is never made smaller, and no limit ends its loops (CTX-17). */
export function withoutContextManagement(agent: AgentDefinitionInput): AgentDefinitionInput {
  return { ...agent, context: null, limits: NO_LIMITS };
}
