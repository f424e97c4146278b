import type { AgentEvent, Session, SessionStatus } from "../../../client/index.ts";
import { selectLastTurns, toPastEvents } from "./past-messages.ts";

/** How many of the user's last turns are displayed when a session is resumed. */
const RESUMED_TURNS = 3;
/** The most messages that are read for them; a turn of an agent can have hundreds. */
const MAX_ENTRIES = 120;

/**
 * Reads the last messages of a session as events, and how its newest loop began, which names the model.
 *
 * @param status - Of a loop that runs, the messages are displayed by whoever follows it.
 */
export async function readPast(session: Session, status: SessionStatus): Promise<readonly AgentEvent[]> {
  const isRunning = status.status === "running" || status.status === "needs-approval";
  const entries = await session.messages.list({ last: MAX_ENTRIES });
  const past = toPastEvents(selectLastTurns(entries, RESUMED_TURNS, isRunning ? status.loopId : undefined));
  return [...(await readLoopStart(session)), ...past];
}

async function readLoopStart(session: Session): Promise<readonly AgentEvent[]> {
  for await (const { event } of session.events({ from: "loop", follow: false }))
    if (event.type === "AgentStart") return [event];
  return [];
}
