import type { AgentMessage } from "../../schema/message.ts";
import type { LoopEvent } from "../../schema/record.ts";
import type { Delta } from "../../store/stream/stream-hub.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getRetryingTranscript } from "../runs/retry-outage.ts";
import type { GroupEvent } from "./evaluation-events.ts";
import { type FollowedItem, type FollowStart, followSession } from "./follow-stream.ts";
import { RecordedEventReader } from "./recorded-event-reader.ts";

export type WatchItem =
  /** Something durable. `message` is what the event names by position. */
  | { readonly type: "event"; readonly event: LoopEvent; readonly message?: AgentMessage }
  /** Around the loops of an evaluation, whose events come as they are recorded, those of one between those of others. */
  | { readonly type: "group"; readonly event: GroupEvent }
  /** Live output, as it is made. */
  | { readonly type: "delta"; readonly offset: number; readonly delta: Delta };

export type WatchOptions = {
  /** Ends the watching; the run goes on. */
  readonly signal?: AbortSignal;
  /**
   * `loop` (unless said): the loop that is running, or the newest. `session`: everything. `now`: only what comes.
   */
  readonly from?: FollowStart;
  /** The run whose end ends the watching; the session's newest unless said. */
  readonly runId?: string;
};

/** What a session records and publishes, as it is stored; ends when the run has ended, or with the signal. */
export async function* watchSession(
  link: ClientLink,
  session: string,
  { from = "loop", runId, signal }: WatchOptions = {},
): AsyncGenerator<WatchItem, void, void> {
  const recorded = new RecordedEventReader(() => getRetryingTranscript(link.storage, signal), session);
  for await (const followed of followSession(link, session, recorded, { start: from, runId, signal })) {
    if (!followed.isKnown) yield toWatchItem(followed);
  }
}

function toWatchItem({ item }: FollowedItem): WatchItem {
  if (item.type !== "event") return item;
  const { type, event, message } = item;
  return { type, event, ...(message === undefined ? {} : { message }) };
}
