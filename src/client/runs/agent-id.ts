import type { SessionRecord } from "../../store/transcript/session.ts";

/**
 * Returns the id of a session's agent, the same in events, records and checkpoints (ID-01). Sessions without an id use the
 * agent's name.
 */
export function getAgentId({ agentId, agentName }: Pick<SessionRecord, "agentId" | "agentName">): string {
  return agentId ?? agentName;
}
