import type { AgentEvent, Session } from "../client/index.ts";

export type SessionEvent = { readonly cursor: string; readonly event: AgentEvent };

export type SourceOptions = {
  /** A cursor, `loop`, `session` or `now`; the loop that runs, or the newest, unless said. */
  readonly from?: string;
  readonly signal: AbortSignal;
};

/** What happens in a session, with where a reader may go on. */
export async function* eventsOf(
  session: Session,
  { from, signal }: SourceOptions,
): AsyncGenerator<SessionEvent> {
  let at = 0;
  const skip = from !== undefined && /^\d+$/.test(from) ? Number(from) : 0;
  const start = from === "now" ? "now" : skip > 0 || from === "session" ? "session" : "loop";
  for await (const event of session.agentEvents({ from: start, signal })) {
    at += 1;
    if (at > skip) yield { cursor: `${at}`, event };
  }
}
