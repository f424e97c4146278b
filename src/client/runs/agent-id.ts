import type { SessionRecord } from "../../store/transcript/session.ts";

/**
 * The id of a session's agent, the same wherever it is told (ID-01): in events, records and checkpoints. Sessions of
 * before there were ids have the agent's name.
 */
export function getAgentId({ agentId, agentName }: Pick<SessionRecord, "agentId" | "agentName">): string {
  return agentId ?? agentName;
}
