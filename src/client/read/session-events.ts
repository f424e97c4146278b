import type { AgentEvent } from "../../schema/agent-event.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getRetryingTranscript } from "../runs/retry-outage.ts";
import { AgentEventReader } from "./agent-event-reader.ts";
import { type EventPosition, formatCursor, type LoopPosition, parseCursor } from "./event-cursor.ts";
import { type FollowStart, followSession, type LiveItem } from "./follow-stream.ts";
import { LiveEvents } from "./live-events.ts";
import { RecordedEventReader, type RecordedItem } from "./recorded-event-reader.ts";

/** An event of a session, and the cursor after it: resume with `session.events({ from: cursor })`. */
export type SessionEvent = {
  readonly session: string;
  /** Where to resume after this event. */
  readonly cursor: string;
  /** What happened. */
  readonly event: AgentEvent;
};

/** Which events of a session to follow, and from where. */
export type EventsOptions = {
  /**
   * `loop` (default): the loop that is running, or the newest. `session`: everything. `now`: only new events. Or a cursor:
   * all events after its own.
   */
  readonly from?: FollowStart | (string & {});
  /** Whether to wait for further events until the run ends; true by default. Otherwise ends after what is recorded now. */
  readonly follow?: boolean;
  /** Ends the iteration; the run continues. */
  readonly signal?: AbortSignal;
  /** The run whose end ends the iteration; the session's newest run by default. */
  readonly runId?: string;
};

/**
 * Streams recorded events and live output of a session in one order, each once. Ends when the run ends. Waits for a server
 * or workers that are temporarily unavailable.
 */
export async function* streamSessionEvents(
  link: ClientLink,
  session: string,
  { from = "loop", runId, signal, follow = true }: EventsOptions = {},
): AsyncGenerator<SessionEvent, void, void> {
  const start = getFollowStart(session, from);
  const builder = new SessionEventBuilder(
    link,
    session,
    typeof start === "string" ? undefined : start,
    signal,
  );
  try {
    const options = { start, runId, signal, follow };
    for await (const { item, isReplayed } of followSession(link, session, builder.recorded, options)) {
      if (isReplayed) await builder.restore(item);
      else yield* await builder.toSessionEvents(item);
    }
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

function getFollowStart(session: string, from: string): FollowStart | EventPosition {
  return from === "loop" || from === "session" || from === "now" ? from : parseCursor(session, from);
}

/** Converts items to events, each with the position after it. */
class SessionEventBuilder {
  readonly recorded: RecordedEventReader;
  readonly #session: string;
  readonly #events: AgentEventReader;
  readonly #live = new LiveEvents();
  /** The number of delivered events of each loop's next recorded event. */
  readonly #delivered = new Map<string, number>();
  #resumed: EventPosition | undefined;
  #offset: number;

  constructor(
    link: ClientLink,
    session: string,
    position: EventPosition | undefined,
    signal: AbortSignal | undefined,
  ) {
    const open = () => getRetryingTranscript(link.storage, signal);
    this.#session = session;
    this.recorded = new RecordedEventReader(open, session);
    this.#events = new AgentEventReader(open, session);
    this.#resumed = position;
    this.#offset = position?.offset ?? 0;
  }

  async restore(item: RecordedItem | LiveItem): Promise<void> {
    if (item.type === "event") this.#live.addRecorded(await this.#events.complete(item));
    if (item.type !== "delta") return;
    this.#live.restore(
      item.delta,
      await this.#events.readModel(this.recorded.getLoopRecord(item.delta.loopId)),
    );
    this.#offset = Math.max(this.#offset, item.offset);
  }

  async toSessionEvents(item: RecordedItem | LiveItem): Promise<readonly SessionEvent[]> {
    if (this.#resumed !== undefined) this.#resume(this.#resumed);
    if (item.type === "group") return [this.#toSessionEvent(item.event)];
    return item.type === "event" ? await this.#toRecordedEvents(item) : await this.#toLiveEvents(item);
  }

  /** Restores what the position states and the record does not. */
  #resume({ first, loops }: EventPosition): void {
    this.#resumed = undefined;
    for (const [index, position] of loops.entries()) {
      const loopId = this.recorded.getLoopId(first + index);
      if (loopId === undefined || position === "skipped") continue;
      if (position.started === true) this.#live.start(loopId);
      if (position.delivered !== undefined) this.#delivered.set(loopId, position.delivered);
    }
  }

  async #toRecordedEvents(item: Extract<RecordedItem, { type: "event" }>): Promise<readonly SessionEvent[]> {
    const { loopId, sequence } = item.event;
    const events = this.#live.addRecorded(await this.#events.complete(item));
    const before = this.#delivered.get(loopId) ?? 0;
    this.#delivered.delete(loopId);
    return events.slice(before).map((event, remaining) => {
      const index = before + remaining;
      const position = index === events.length - 1 ? {} : { next: sequence, delivered: index + 1 };
      return this.#toSessionEvent(event, loopId, position);
    });
  }

  async #toLiveEvents({ delta, offset }: LiveItem): Promise<readonly SessionEvent[]> {
    const model = await this.#events.readModel(this.recorded.getLoopRecord(delta.loopId));
    const events = this.#live.addLive(delta, model);
    return events.map((event, index) => {
      if (index === events.length - 1) this.#offset = offset;
      return this.#toSessionEvent(event);
    });
  }

  #toSessionEvent(event: AgentEvent, loopId?: string, changed?: Partial<LoopPosition>): SessionEvent {
    return { session: this.#session, cursor: this.#formatCursor(loopId, changed), event };
  }

  #formatCursor(loopId?: string, changed: Partial<LoopPosition> = {}): string {
    const { first, loops, group } = this.recorded.getPosition();
    const positions = loops.map((position, index) => {
      const id = this.recorded.getLoopId(first + index);
      if (position === "skipped" || id === undefined) return position;
      const started = this.#live.hasStarted(id) ? { started: true } : {};
      return { ...position, ...started, ...(id === loopId ? changed : {}) };
    });
    return formatCursor(this.#session, { offset: this.#offset, first, loops: positions, group });
  }
}
