import type { Holdfast, SessionEvent } from "../client/index.ts";
import { EventFrames } from "./event-frames.ts";
import { frame } from "./frames.ts";
import type { Outlet } from "./outlet.ts";
import { isOurFault, problemOf } from "./problem.ts";
import { Source } from "./source.ts";
import type { Streams } from "./streams.ts";

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
  const { open } = await session.status();
  const source = new Source(session, from);
  const first = source.next();
  const early = await Promise.race([first, open ? soon() : first]);
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

/** Long enough for a cursor that is none to be found out before the response begins. */
function soon(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}

/** A reader that is behind is not shown every piece: the next update holds them all. */
async function write(outlet: Outlet, frames: EventFrames, { cursor, event }: SessionEvent): Promise<void> {
  if (outlet.isBehind) {
    if (event.type === "MessageUpdate") return;
    await outlet.room();
  }
  const text = frames.take(cursor, event);
  if (text !== "") await outlet.write(text);
}
