import { AttemptFilter } from "../../store/stream/attempt-filter.ts";
import type { OffsetDelta, StreamHub, StreamSnapshot } from "../../store/stream/stream-hub.ts";
import type { ClientLink } from "../connection/client-link.ts";
import type { HoldfastError } from "../holdfast-error.ts";
import { AsyncQueue } from "../runs/async-queue.ts";
import { findOpenSince, waitForRunEnd } from "../runs/run-end.ts";
import type { EventPosition } from "./event-cursor.ts";
import type { RecordedEventReader, RecordedItem } from "./recorded-event-reader.ts";

// Invariants
//   I1. Every event of the watched loops comes once, in order, whatever the live output does.
//   I2. A delta comes only while what it is a part of is not recorded: who shows both shows nothing twice.
//   I3. When the run has ended, all that it recorded has come before the end of the iteration.
//   I4. Who is slow holds up nobody and has nothing kept for it: what it misses of live output is recorded meanwhile.

export type FollowStart = "loop" | "session" | "now";

/** Live output; `offset` is where the stream goes on behind it. */
export type LiveItem = { readonly type: "delta" } & OffsetDelta;

/** What comes, and before that what who begins here knows already: of turns that are under way, for what they will be. */
export type FollowedItem = { readonly item: RecordedItem | LiveItem; readonly isKnown: boolean };

export type FollowOptions = {
  readonly start: FollowStart | EventPosition;
  readonly runId: string | undefined;
  readonly signal: AbortSignal | undefined;
};

/** Live output announces what was recorded; this is for what it left out, and for watchers on another machine. */
const POLL_MS = 1_000;

type QueuedItem =
  | { readonly type: "live"; readonly item: OffsetDelta }
  | { readonly type: "look" }
  | { readonly type: "ended" }
  /** Whether the run has ended cannot be known any more. */
  | { readonly type: "failed"; readonly error: HoldfastError };

/** What is recorded of a session and what it shows live, in one order; ends when the run has ended, or with the signal. */
export async function* followSession(
  link: ClientLink,
  session: string,
  recorded: RecordedEventReader,
  { start, runId, signal: outer }: FollowOptions,
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
    const hub = link.storage.openHub();
    const snapshot = await readSnapshot(hub, session, start);
    const isLate = start !== "loop" && start !== "session";
    for await (const item of readInitialItems(link, session, recorded, start, signal))
      yield { item, isKnown: true };
    const attempts = new AttemptFilter();
    const isInSnapshot = ({ delta }: OffsetDelta) => recorded.isOpen(delta) && !attempts.isVoid(delta);
    if (isLate)
      for (const one of snapshot.deltas)
        if (isInSnapshot(one)) yield { item: toLiveItem(one), isKnown: true };
    void pipeLiveOutput(hub, session, snapshot.offset, signal, queue);
    polling = waitForRunEnd(link, session, { runId, signal }).then((error) =>
      queue.push(error === undefined ? { type: "ended" } : { type: "failed", error }),
    );
    yield* toFollowedItems(recorded.readNew());
    if (!isLate)
      for (const one of snapshot.deltas)
        if (isInSnapshot(one)) yield { item: toLiveItem(one), isKnown: false };
    for (;;) {
      const next = await queue.take();
      if (signal.aborted) return;
      if (next.type !== "live" || next.item.delta.body.type === "recorded")
        yield* toFollowedItems(recorded.readNew());
      else if (isInSnapshot(next.item)) yield { item: toLiveItem(next.item), isKnown: false };
      if (next.type === "look") timer.start();
      if (next.type === "failed") throw next.error;
      if (next.type === "ended") return;
    }
  } finally {
    timer.stop();
    outer?.removeEventListener("abort", stopFollowing);
    stop.abort();
    queue.close();
    // A question that is under way when its connection is closed ends the process.
    await polling;
  }
}

/** Strikes some time after it was wound, once. */
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
  for await (const item of recordedItem) yield { item, isKnown: false };
}

function toLiveItem(one: OffsetDelta): LiveItem {
  return { type: "delta", ...one };
}

// Live output is a comfort: when it cannot be had, what is recorded still comes.

async function readSnapshot(
  hub: StreamHub,
  session: string,
  start: FollowStart | EventPosition,
): Promise<StreamSnapshot> {
  const to = typeof start === "string" ? undefined : start.offset;
  try {
    const { deltas, offset } = await hub.readSnapshot(session, to === undefined ? {} : { to });
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
    // `LOOK_AGAIN_MS` carries on.
  }
}
