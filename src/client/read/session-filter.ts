import type { StatusCode } from "../../core/machine/status-code.ts";
import type { SessionFilter } from "../../store/transcript/archive.ts";

/** Which sessions are wanted. */
export type FindOptions = {
  readonly agent?: string;
  readonly model?: string;
  readonly status?: StatusCode;
  /** Sessions that were active at or after this time. */
  readonly since?: Date;
  readonly until?: Date;
  /** Sessions that cost more than this, in US dollars, as far as costs are known. */
  readonly costOver?: number;
  /** Includes the sessions of sub-agents. By default, only sessions that no agent called. */
  readonly children?: boolean;
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
