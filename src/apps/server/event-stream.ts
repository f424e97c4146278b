import { setTimeout } from "node:timers/promises";
import { type Holdfast, HoldfastError, type Session, type SessionEvent } from "../../client/index.ts";
import { CompactEvents } from "../../client/read/compact-events.ts";
import { readRunSummary } from "../../client/runs/run-summary.ts";
import type { OpenStreams } from "./open-streams.ts";
import { isInternalError, toProblem } from "./problem.ts";
import type { ResponseStream } from "./response-stream.ts";
import { SessionEventReader } from "./session-event-reader.ts";
import { formatFrame } from "./sse-frame.ts";

/** How long a response waits for a possible immediate end: an invalid cursor, or no more events. */
const FIRST_WRITE_MS = 250;

export type EventStreamOptions = {
  readonly session: string;
  /** As the client specified it. */
  readonly from: string | undefined;
  /** The request, for the text of a problem. */
  readonly target: string;
  readonly drop: () => void;
};

/** Streams the events of a session as Server-Sent Events; `result` is the last one of a run. */
export async function streamEvents(
  holdfast: Holdfast,
  streams: OpenStreams,
  { session: id, from, target, drop }: EventStreamOptions,
): Promise<Response> {
  const session = holdfast.session(id);
  await assertSessionExists(session);
  const source = new SessionEventReader(session, from);
  const first = source.next();
  const early = await Promise.race([first, setTimeout(FIRST_WRITE_MS)]);
  // An EventSource reconnects until it receives 204 No Content.
  if (early?.done === true) return new Response(null, { status: 204 });
  const writeEvents = async (outlet: ResponseStream): Promise<void> => {
    source.closeOnAbort(outlet.closedSignal);
    const compactEvents = new CompactEvents();
    try {
      for (let next = await first; next.done !== true; next = await source.next()) {
        await writeEvent(outlet, compactEvents, next.value);
      }
      if (source.isClosed) return;
      await outlet.write(formatFrame({ event: "result", data: await readRunSummary(session) }));
    } catch (error) {
      if (isInternalError(error)) throw error;
      await outlet.write(formatFrame({ event: "problem", data: toProblem(error, target) }));
    } finally {
      source.close();
    }
  };
  try {
    return streams.open({ write: writeEvents, atClose: "end", drop });
  } catch (error) {
    source.close();
    throw error;
  }
}

/** Asks the run itself only if nothing is recorded: hundreds of readers may connect at once. */
async function assertSessionExists(session: Session): Promise<void> {
  try {
    await session.messages.list({ limit: 1 });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "session-unknown") throw error;
    await session.status();
  }
}

/** Writes an event. A slow reader may miss updates: the next one contains the whole answer. */
async function writeEvent(
  outlet: ResponseStream,
  compactEvents: CompactEvents,
  sessionEvent: SessionEvent,
): Promise<void> {
  if (outlet.isLagging && sessionEvent.event.type === "MessageUpdate") return;
  const sent = compactEvents.compact(sessionEvent);
  const text = sent.map((data) => formatFrame({ id: data.cursor, data })).join("");
  if (text !== "") await outlet.write(text);
}
