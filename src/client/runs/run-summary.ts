import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Session } from "../session.ts";
import type { SessionStatus } from "./session-status.ts";

/** How a run ended, and what it used: the fields that the command line and the HTTP server add to every result. */
export type RunSummary = { readonly type: "result" } & Pick<
  SessionStatus,
  "session" | "status" | "loopId" | "outcome" | "turns" | "usage" | "costUsd" | "durationMs"
>;

export async function readRunSummary(session: Pick<Session, "status">): Promise<RunSummary> {
  return buildRunSummary(await session.status());
}

export function buildRunSummary(found: SessionStatus): RunSummary {
  const { session, status, loopId, outcome, turns = 0, usage, costUsd = null, durationMs } = found;
  return {
    type: "result",
    session,
    status,
    turns,
    costUsd,
    ...omitUndefined({ loopId, outcome, usage, durationMs }),
  };
}
