import type { RetentionPolicy, RetentionRule } from "../../schema/retention.ts";

// Which sessions a policy deletes, decided by walking through them from the newest to the oldest.

const DAY_MS = 24 * 60 * 60 * 1000;

/** What each rule has counted of the earlier sessions. */
export type RuleCounts = readonly { readonly sessions: number; readonly bytes: number }[];

export type Candidate = {
  readonly agentName: string;
  readonly lastActiveAtMs: number;
  /** The size of its messages; read only where a rule counts it. */
  readonly bytes: number;
};

export const buildEmptyCounts = ({ rules }: RetentionPolicy): RuleCounts =>
  rules.map(() => ({ sessions: 0, bytes: 0 }));

export function countsBytes({ rules }: RetentionPolicy): boolean {
  return rules.some(({ maxBytes }) => maxBytes !== undefined);
}

/** Returns why the next session is to be deleted, or nothing, and the new counts. A deleted session counts for no rule. */
export function judgeSession(
  policy: RetentionPolicy,
  counted: RuleCounts,
  session: Candidate,
  nowMs: number,
): { readonly reason?: string; readonly counted: RuleCounts } {
  const concerned = policy.rules.map(({ agent }) => agent === undefined || agent === session.agentName);
  const grown = counted.map((sum, index) =>
    concerned[index] === true ? { sessions: sum.sessions + 1, bytes: sum.bytes + session.bytes } : sum,
  );
  const reasons = policy.rules.map((rule, index) =>
    concerned[index] === true ? findReason(rule, grown[index]!, session, nowMs) : undefined,
  );
  const reason = reasons.find((reason) => reason !== undefined);
  return reason === undefined ? { counted: grown } : { reason, counted };
}

function findReason(
  { maxAgeDays, maxSessions, maxBytes }: RetentionRule,
  sum: RuleCounts[number],
  { lastActiveAtMs }: Candidate,
  nowMs: number,
): string | undefined {
  if (maxAgeDays !== undefined && nowMs - lastActiveAtMs > maxAgeDays * DAY_MS)
    return `older than ${maxAgeDays} days`;
  if (maxSessions !== undefined && sum.sessions > maxSessions) return `more than ${maxSessions} sessions`;
  if (maxBytes !== undefined && sum.bytes > maxBytes) return `more than ${maxBytes} bytes`;
  return undefined;
}
