import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { AttemptFilter } from "../../store/stream/attempt-filter.ts";
import type { OffsetDelta, StreamHub, StreamSnapshot } from "../../store/stream/stream-hub.ts";
import type { ClientLink } from "../connection/client-link.ts";
import type { HoldfastError } from "../holdfast-error.ts";
import { AsyncQueue } from "../runs/async-queue.ts";
import { findOpenSince, waitForRunEnd } from "../runs/run-end.ts";
import type { EventPosition } from "./event-cursor.ts";
import type { RecordedEventReader, RecordedItem } from "./recorded-event-reader.ts";

// Invariants
//   I1. Every event of the watched loops arrives once, in order, whatever the live output does.
//   I2. A delta arrives only before its part is recorded: a reader that displays both displays nothing twice.
//   I3. When the run has ended, everything that it recorded arrives before the iteration ends.
//   I4. A slow reader blocks nobody and has no buffer: the live output that it misses is recorded meanwhile.

/** Where a stream begins: with the newest loop, with the session, or with what happens from now on. */
export type FollowStart = "loop" | "session" | "now";

/** Live output; the stream continues after `offset`. */
export type LiveItem = { readonly type: "delta" } & OffsetDelta;

/** New items, preceded by a replay of the state that the subscriber already has (`isReplayed`), for the turns in progress. */
export type FollowedItem = { readonly item: RecordedItem | LiveItem; readonly isReplayed: boolean };

export type FollowOptions = {
  readonly start: FollowStart | EventPosition;
  readonly runId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether to wait for new items until the run ends. */
  readonly follow: boolean;
};

/** Live output announces recorded events. Polling finds those that it missed, and serves watchers on another machine. */
const POLL_MS = 1_000;

type QueuedItem =
  | { readonly type: "live"; readonly item: OffsetDelta }
  | { readonly type: "look" }
  | { readonly type: "ended" }
  /** Whether the run has ended can no longer be determined. */
  | { readonly type: "failed"; readonly error: HoldfastError };

/** Follows recorded events and live output of a session in one order, until the run ends or the signal is aborted. */
export async function* followSession(
  link: ClientLink,
  session: string,
  recorded: RecordedEventReader,
  { start, runId, signal: outer, follow }: FollowOptions,
): AsyncGenerator<FollowedItem, void, void> {
  if (outer?.aborted === true) return;
  const stop = new AbortController();
  const { signal } = stop;
  const queue = new AsyncQueue<QueuedItem>();
  const stopFollowing = (): void => stop.abort();
  const timer = new OneShotTimer(() => queue.push({ type: "look" }));
  let polling: Promise<void> | undefined;
  outer?.addEventListener("abort", stopFollowing, { once: true });
  signal.addEventListener("abort", () => queue.push({ type: "ended" }), { once: true });
  try {
    const hub = await link.storage.openHub();
    const snapshot = await readSnapshot(hub, session, start);
    const isLate = start !== "loop" && start !== "session";
    for await (const item of readInitialItems(link, session, recorded, start, signal))
      yield { item, isReplayed: true };
    const attempts = new AttemptFilter();
    const isInSnapshot = ({ delta }: OffsetDelta) => recorded.isOpen(delta) && !attempts.isVoid(delta);
    if (isLate)
      for (const one of snapshot.deltas)
        if (isInSnapshot(one)) yield { item: toLiveItem(one), isReplayed: true };
    if (!follow) return yield* toFollowedItems(recorded.readNew());
    void pipeLiveOutput(hub, session, snapshot.offset, signal, queue);
    polling = waitForRunEnd(link, session, { runId, signal }).then((error) =>
      queue.push(error === undefined ? { type: "ended" } : { type: "failed", error }),
    );
    yield* toFollowedItems(recorded.readNew());
    if (!isLate)
      for (const one of snapshot.deltas)
        if (isInSnapshot(one)) yield { item: toLiveItem(one), isReplayed: false };
    for (;;) {
      const next = await queue.take();
      if (signal.aborted) return;
      if (next.type !== "live" || next.item.delta.body.type === "recorded")
        yield* toFollowedItems(recorded.readNew());
      else if (isInSnapshot(next.item)) yield { item: toLiveItem(next.item), isReplayed: false };
      if (next.type === "look") timer.start();
      if (next.type === "failed") throw next.error;
      if (next.type === "ended") return;
    }
  } finally {
    timer.stop();
    outer?.removeEventListener("abort", stopFollowing);
    stop.abort();
    queue.close();
    // A request that is in progress when its connection is closed would end the process.
    await polling;
  }
}

/** Fires once, some time after it was started. */
class OneShotTimer {
  readonly #onElapsed: () => void;
  #timer: NodeJS.Timeout;

  constructor(onElapsed: () => void) {
    this.#onElapsed = onElapsed;
    this.#timer = setTimeout(onElapsed, POLL_MS);
  }

  start(): void {
    this.#timer = setTimeout(this.#onElapsed, POLL_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

async function* readInitialItems(
  link: ClientLink,
  session: string,
  recorded: RecordedEventReader,
  start: FollowStart | EventPosition,
  signal: AbortSignal,
): AsyncGenerator<RecordedItem, void, void> {
  if (typeof start !== "string") yield* recorded.resume(start);
  else
    yield* recorded.begin(start, start === "loop" ? await findOpenSince(link, session, signal) : undefined);
}

async function* toFollowedItems(
  recordedItem: AsyncIterable<RecordedItem>,
): AsyncGenerator<FollowedItem, void, void> {
  for await (const item of recordedItem) yield { item, isReplayed: false };
}

function toLiveItem(one: OffsetDelta): LiveItem {
  return { type: "delta", ...one };
}

// Live output is optional: if it is unavailable, recorded events still arrive.

async function readSnapshot(
  hub: StreamHub,
  session: string,
  start: FollowStart | EventPosition,
): Promise<StreamSnapshot> {
  const to = typeof start === "string" ? undefined : start.offset;
  try {
    const { deltas, offset } = await hub.readSnapshot(session, omitUndefined({ to }));
    return { deltas, offset: to ?? offset };
  } catch {
    return { deltas: [], offset: to ?? 0 };
  }
}

async function pipeLiveOutput(
  hub: StreamHub,
  session: string,
  from: number,
  signal: AbortSignal,
  queue: AsyncQueue<QueuedItem>,
): Promise<void> {
  try {
    for await (const item of hub.watch({ session, from, signal }))
      await queue.pushAndWait({ type: "live", item });
  } catch {
    // Polling at `POLL_MS` continues.
  }
}
