import type { AgentMessage } from "../../schema/message.ts";
import type { LoopEvent } from "../../schema/record.ts";
import type { Delta } from "../../store/stream/stream.ts";
import type { Link } from "../connection/link.ts";
import { outlasting } from "../runs/outlast.ts";
import { type Followed, type From, followSession } from "./follow.ts";
import { Recorded } from "./recorded.ts";
import type { GroupEvent } from "./recorded-groups.ts";

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
  readonly from?: From;
  /** The run whose end ends the watching; the session's newest unless said. */
  readonly runId?: string;
};

/** What a session records and publishes, as it is stored; ends when the run has ended, or with the signal. */
export async function* watchSession(
  link: Link,
  session: string,
  { from = "loop", runId, signal }: WatchOptions = {},
): AsyncGenerator<WatchItem, void, void> {
  const recorded = new Recorded(() => outlasting(link.storage, signal), session);
  for await (const followed of followSession(link, session, recorded, { start: from, runId, signal })) {
    if (!followed.isKnown) yield asItem(followed);
  }
}

function asItem({ item }: Followed): WatchItem {
  if (item.type !== "event") return item;
  const { type, event, message } = item;
  return { type, event, ...(message === undefined ? {} : { message }) };
}
