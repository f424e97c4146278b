import { setTimeout } from "node:timers/promises";
import { type Holdfast, HoldfastError, type Session, type SessionEvent } from "../../client/index.ts";
import { EventFrames } from "./event-frames.ts";
import { frame } from "./frames.ts";
import type { Outlet } from "./outlet.ts";
import { isOurFault, problemOf } from "./problem.ts";
import { Source } from "./source.ts";
import type { Streams } from "./streams.ts";

/** So long a response waits for what may be its only word: that the cursor is none, or that there is nothing more. */
const FIRST_MS = 250;

export type EventStreamOptions = {
  readonly session: string;
  /** As the client said it. */
  readonly from: string | undefined;
  /** What was asked for, for the words of a problem. */
  readonly tried: string;
  readonly drop: () => void;
};

/** The events of a session as Server-Sent Events; `end` is the last of a run. */
export async function eventStream(
  holdfast: Holdfast,
  streams: Streams,
  { session: id, from, tried, drop }: EventStreamOptions,
): Promise<Response> {
  const session = holdfast.session(id);
  await mustBeKnown(session);
  const source = new Source(session, from);
  const first = source.next();
  const early = await Promise.race([first, setTimeout(FIRST_MS)]);
  // An EventSource comes back until it is told that there is no content.
  if (early?.done === true) return new Response(null, { status: 204 });
  const tell = async (outlet: Outlet): Promise<void> => {
    source.closeWith(outlet.gone);
    const frames = new EventFrames();
    try {
      for (let next = await first; next.done !== true; next = await source.next()) {
        await write(outlet, frames, next.value);
      }
      if (source.isClosed) return;
      const { status } = await session.status();
      await outlet.write(frame({ event: "end", data: { type: "end", session: id, status } }));
    } catch (error) {
      if (isOurFault(error)) throw error;
      await outlet.write(frame({ event: "problem", data: problemOf(error, tried) }));
    } finally {
      source.close();
    }
  };
  try {
    return streams.open({ tell, atClose: "end", drop });
  } catch (error) {
    source.close();
    throw error;
  }
}

/** Asks the run itself only where nothing is recorded: hundreds of readers may come at once. */
async function mustBeKnown(session: Session): Promise<void> {
  try {
    await session.messages({ limit: 1 });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "session-unknown") throw error;
    await session.status();
  }
}

/** A reader that is behind is not shown every piece: the next update holds them all. */
async function write(outlet: Outlet, frames: EventFrames, { cursor, event }: SessionEvent): Promise<void> {
  if (outlet.isBehind && event.type === "MessageUpdate") return;
  const text = frames.take(cursor, event);
  if (text !== "") await outlet.write(text);
}
