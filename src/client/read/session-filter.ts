import type { StatusCode } from "../../core/machine/status-code.ts";
import type { SessionFilter } from "../../store/transcript/archive.ts";

/** Which sessions are wanted. */
export type FindOptions = {
  /** The name of the agent. */
  readonly agent?: string;
  /** The id of the model. */
  readonly model?: string;
  /** Only sessions with this status. */
  readonly status?: StatusCode;
  /** Sessions that were active at or after this time. */
  readonly since?: Date;
  /** Sessions that were active before this time. */
  readonly until?: Date;
  /** Sessions that cost more than this, in US dollars, as far as costs are known. */
  readonly costOver?: number;
  /** Includes the sessions of sub-agents. By default, only sessions that no agent called. */
  readonly children?: boolean;
  /** The most results; by default 50 sessions, or 20 hits of a search. */
  readonly limit?: number;
};

export function toSessionFilter({
  agent,
  model,
  since,
  until,
  costOver,
  children = false,
}: FindOptions): SessionFilter {
  return {
    agentName: agent,
    model,
    sinceMs: since?.getTime(),
    untilMs: until?.getTime(),
    costOverUsd: costOver,
    spawnedBy: children ? undefined : null,
  };
}
