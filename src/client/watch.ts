import type { AgentMessage } from "../schema/message.ts";
import type { LoopEvent } from "../schema/record.ts";
import type { Delta, OffsetDelta } from "../stream/stream.ts";
import { HoldfastError } from "./error.ts";
import { isGone } from "./failures.ts";
import type { Link } from "./link.ts";
import { Mailbox } from "./mailbox.ts";
import { Recorded } from "./recorded.ts";
import type { GroupEvent } from "./recorded-groups.ts";
import { awaitResult } from "./result.ts";

// Invariants
//   I1. Every event of the watched loops comes once, in order, whatever the live output does.
//   I2. A delta comes only while what it is a part of is not recorded: who shows both shows nothing twice.
//   I3. When the run has ended, all that it recorded has come before the end of the iteration.

export type WatchItem =
  /** Something durable. `message` is what the event names by position. */
  | { readonly type: "event"; readonly event: LoopEvent; readonly message?: AgentMessage }
  /** Around the loops of an evaluation, whose events come as they are recorded, those of one between those of others. */
  | { readonly type: "group"; readonly event: GroupEvent }
  /** Live output, as it is made. `offset` is where a later watcher may go on. */
  | { readonly type: "delta"; readonly offset: number; readonly delta: Delta };

export type WatchOptions = {
  /** Ends the watching; the run goes on. */
  readonly signal?: AbortSignal;
  /**
   * `loop` (unless said): the loop that is running, or the newest. `session`: everything. `now`: only what comes.
   */
  readonly from?: "loop" | "session" | "now";
  /** Live output behind this offset only. */
  readonly offset?: number;
  /** The run whose end ends the watching; the session's newest unless said. */
  readonly runId?: string;
};

/** Live output announces what was recorded; this is for what it left out, and for watchers on another machine. */
const LOOK_AGAIN_MS = 1_000;

type Mail =
  | { readonly type: "live"; readonly item: OffsetDelta }
  | { readonly type: "look" }
  | { readonly type: "closed" }
  /** Whether the run has ended cannot be known any more. */
  | { readonly type: "failed"; readonly error: HoldfastError };

/** What happens in a session, as it happens; ends when the run has ended, or with the signal. */
export async function* watchSession(
  link: Link,
  session: string,
  options: WatchOptions = {},
): AsyncGenerator<WatchItem, void, void> {
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const mail = new Mailbox<Mail>();
  const recorded = new Recorded(() => link.storage.existing(), session);
  signal.addEventListener("abort", () => mail.post({ type: "closed" }), { once: true });
  if (options.signal?.aborted === true) return;
  const timer = setInterval(() => mail.post({ type: "look" }), LOOK_AGAIN_MS);
  try {
    await recorded.begin(options.from ?? "loop", await startedAt(link, session));
    const live = listen(link, session, options, signal, mail);
    const ended = untilEnd(link, session, options.runId, signal).then((end) => mail.post(end));
    yield* recorded.news();
    for (;;) {
      const next = await mail.take();
      if (next.type !== "live") yield* recorded.news();
      else if (next.item.delta.body.type === "recorded") yield* recorded.news();
      else if (await recorded.isOpen(next.item.delta)) {
        yield { type: "delta", offset: next.item.offset, delta: next.item.delta };
      }
      if (next.type === "failed") throw next.error;
      if (next.type === "closed") break;
    }
    stop.abort();
    await Promise.all([live, ended]);
  } finally {
    clearInterval(timer);
    stop.abort();
  }
}

/** When the open run began; a loop that ended before is not part of it. */
async function startedAt(link: Link, session: string): Promise<Date | undefined> {
  try {
    const { status, startTime } = await link.client.workflow.getHandle(session).describe();
    return status.name === "RUNNING" ? startTime : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** However the run ends is for `result` to say. */
async function untilEnd(
  link: Link,
  session: string,
  runId: string | undefined,
  signal: AbortSignal,
): Promise<Mail> {
  try {
    await awaitResult(link, session, { runId, signal });
  } catch (error) {
    const lost =
      error instanceof HoldfastError && (error.code === "unreachable" || error.code === "server-refused");
    if (lost && !signal.aborted) return { type: "failed", error };
  }
  return { type: "closed" };
}

/** Live output is a comfort: when it cannot be had, what is recorded still comes. */
async function listen(
  link: Link,
  session: string,
  { from, offset }: WatchOptions,
  signal: AbortSignal,
  mail: Mailbox<Mail>,
): Promise<void> {
  const start = offset ?? (from === "now" ? "now" : undefined);
  try {
    for await (const item of link.storage.hub().watch({ session, from: start, signal })) {
      mail.post({ type: "live", item });
    }
  } catch {
    // Nothing to do: `LOOK_AGAIN_MS` carries on.
  }
}
