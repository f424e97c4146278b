import type { AgentEvent } from "../../schema/agent-event.ts";
import type { Link } from "../connection/link.ts";
import { translated } from "../failures.ts";
import { outlasting } from "../runs/outlast.ts";
import { AgentEvents } from "./agent-events.ts";
import { cursorOf, type LoopPlace, type Place, placeOf } from "./cursor.ts";
import { type From, followSession, type LiveItem } from "./follow.ts";
import { LiveEvents } from "./live-events.ts";
import { type News, Recorded } from "./recorded.ts";

/** Something that happened, and where who has seen it goes on: `session.events({ from: cursor })`. */
export type SessionEvent = { readonly cursor: string; readonly event: AgentEvent };

export type EventsOptions = {
  /**
   * `loop` (unless said): the loop that is running, or the newest. `session`: everything. `now`: only what comes. Else a
   * cursor: all behind the event that it came with.
   */
  readonly from?: From | (string & {});
  /** Ends the iteration; the run goes on. */
  readonly signal?: AbortSignal;
  /** The run whose end ends the iteration; the session's newest unless said. */
  readonly runId?: string;
};

/**
 * What happens in a session as it happens: what is recorded and what is shown live in one order, each once. Ends when the
 * run has ended. A server that is away for a while is waited for, and so are workers.
 */
export async function* sessionEvents(
  link: Link,
  session: string,
  { from = "loop", runId, signal }: EventsOptions = {},
): AsyncGenerator<SessionEvent, void, void> {
  const start = startOf(session, from);
  const teller = new Teller(link, session, typeof start === "string" ? undefined : start, signal);
  try {
    const options = { start, runId, signal };
    for await (const { item, isKnown } of followSession(link, session, teller.recorded, options)) {
      if (isKnown) await teller.know(item);
      else yield* await teller.tell(item);
    }
  } catch (error) {
    throw translated(error, link, session);
  }
}

function startOf(session: string, from: string): From | Place {
  return from === "loop" || from === "session" || from === "now" ? from : placeOf(session, from);
}

/** Tells what comes as events, each with the place behind it. */
class Teller {
  readonly recorded: Recorded;
  readonly #session: string;
  readonly #events: AgentEvents;
  readonly #live = new LiveEvents();
  /** Of the next event of these loops so much was told. */
  readonly #told = new Map<string, number>();
  #resumed: Place | undefined;
  #offset: number;

  constructor(link: Link, session: string, place: Place | undefined, signal: AbortSignal | undefined) {
    const open = () => outlasting(link.storage, signal);
    this.#session = session;
    this.recorded = new Recorded(open, session);
    this.#events = new AgentEvents(open, session);
    this.#resumed = place;
    this.#offset = place?.offset ?? 0;
  }

  async know(item: News | LiveItem): Promise<void> {
    if (item.type === "event") this.#live.recorded(await this.#events.whole(item));
    if (item.type !== "delta") return;
    this.#live.recall(item.delta, await this.#events.asked(this.recorded.record(item.delta.loopId)));
    this.#offset = Math.max(this.#offset, item.offset);
  }

  async tell(item: News | LiveItem): Promise<readonly SessionEvent[]> {
    if (this.#resumed !== undefined) this.#resume(this.#resumed);
    if (item.type === "group") return [{ cursor: this.#cursor(), event: item.event }];
    return item.type === "event" ? await this.#recordedEvent(item) : await this.#liveOutput(item);
  }

  /** What the place says and the record does not. */
  #resume({ first, loops }: Place): void {
    this.#resumed = undefined;
    for (const [index, place] of loops.entries()) {
      const loopId = this.recorded.loopAt(first + index);
      if (loopId === undefined || place === "skipped") continue;
      if (place.started === true) this.#live.start(loopId);
      if (place.told !== undefined) this.#told.set(loopId, place.told);
    }
  }

  async #recordedEvent(item: Extract<News, { type: "event" }>): Promise<readonly SessionEvent[]> {
    const { loopId, sequence } = item.event;
    const events = this.#live.recorded(await this.#events.whole(item));
    const before = this.#told.get(loopId) ?? 0;
    this.#told.delete(loopId);
    return events.slice(before).map((event, behind) => {
      const index = before + behind;
      const place = index === events.length - 1 ? {} : { next: sequence, told: index + 1 };
      return { cursor: this.#cursor(loopId, place), event };
    });
  }

  async #liveOutput({ delta, offset }: LiveItem): Promise<readonly SessionEvent[]> {
    const asked = await this.#events.asked(this.recorded.record(delta.loopId));
    const events = this.#live.live(delta, asked);
    return events.map((event, index) => {
      if (index === events.length - 1) this.#offset = offset;
      return { cursor: this.#cursor(), event };
    });
  }

  #cursor(loopId?: string, changed: Partial<LoopPlace> = {}): string {
    const { first, loops, group } = this.recorded.place();
    const places = loops.map((place, index) => {
      const id = this.recorded.loopAt(first + index);
      if (place === "skipped" || id === undefined) return place;
      const started = this.#live.hasStarted(id) ? { started: true } : {};
      return { ...place, ...started, ...(id === loopId ? changed : {}) };
    });
    return cursorOf(this.#session, { offset: this.#offset, first, loops: places, group });
  }
}
