import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { LoopEvent } from "../../schema/record.ts";
import type { Delta } from "../../store/stream/stream-hub.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getRetryingTranscript } from "../runs/retry-outage.ts";
import type { GroupEvent } from "./evaluation-events.ts";
import { type FollowedItem, type FollowStart, followSession } from "./follow-stream.ts";
import { RecordedEventReader } from "./recorded-event-reader.ts";

export type WatchItem =
  /** A durable event. `message` is the message that the event refers to by position. */
  | { readonly type: "event"; readonly event: LoopEvent; readonly message?: AgentMessage }
  /** Brackets the loops of an evaluation, whose events arrive as they are recorded, interleaved. */
  | { readonly type: "group"; readonly event: GroupEvent }
  /** Live output as it is produced. */
  | { readonly type: "delta"; readonly offset: number; readonly delta: Delta };

export type WatchOptions = {
  /** Ends the iteration; the run continues. */
  readonly signal?: AbortSignal;
  /**
   * `loop` (default): the loop that is running, or the newest. `session`: everything. `now`: only new items.
   */
  readonly from?: FollowStart;
  /** The run whose end ends the iteration; the session's newest run by default. */
  readonly runId?: string;
};

/** Streams what a session records and publishes, as stored, until the run ends or the signal is aborted. */
export async function* watchSession(
  link: ClientLink,
  session: string,
  { from = "loop", runId, signal }: WatchOptions = {},
): AsyncGenerator<WatchItem, void, void> {
  const recorded = new RecordedEventReader(() => getRetryingTranscript(link.storage, signal), session);
  for await (const followed of followSession(link, session, recorded, { start: from, runId, signal })) {
    if (!followed.isReplayed) yield toWatchItem(followed);
  }
}

function toWatchItem({ item }: FollowedItem): WatchItem {
  if (item.type !== "event") return item;
  const { type, event, message } = item;
  return { type, event, ...omitUndefined({ message }) };
}
