import { Attempts } from "../../store/stream/attempts.ts";
import type { OffsetDelta, Snapshot, StreamHub } from "../../store/stream/stream.ts";
import type { Link } from "../connection/link.ts";
import type { HoldfastError } from "../error.ts";
import { Mailbox } from "../runs/mailbox.ts";
import { openSince, runEnd } from "../runs/run-end.ts";
import type { Place } from "./cursor.ts";
import type { News, Recorded } from "./recorded.ts";

// Invariants
//   I1. Every event of the watched loops comes once, in order, whatever the live output does.
//   I2. A delta comes only while what it is a part of is not recorded: who shows both shows nothing twice.
//   I3. When the run has ended, all that it recorded has come before the end of the iteration.
//   I4. Who is slow holds up nobody and has nothing kept for it: what it misses of live output is recorded meanwhile.

export type From = "loop" | "session" | "now";

/** Live output; `offset` is where the stream goes on behind it. */
export type LiveItem = { readonly type: "delta" } & OffsetDelta;

/** What comes, and before that what who begins here knows already: of turns that are under way, for what they will be. */
export type Followed = { readonly item: News | LiveItem; readonly isKnown: boolean };

export type FollowOptions = {
  readonly start: From | Place;
  readonly runId: string | undefined;
  readonly signal: AbortSignal | undefined;
};

/** Live output announces what was recorded; this is for what it left out, and for watchers on another machine. */
const LOOK_AGAIN_MS = 1_000;

type Mail =
  | { readonly type: "live"; readonly item: OffsetDelta }
  | { readonly type: "look" }
  | { readonly type: "ended" }
  /** Whether the run has ended cannot be known any more. */
  | { readonly type: "failed"; readonly error: HoldfastError };

/** What is recorded of a session and what it shows live, in one order; ends when the run has ended, or with the signal. */
export async function* followSession(
  link: Link,
  session: string,
  recorded: Recorded,
  { start, runId, signal: outer }: FollowOptions,
): AsyncGenerator<Followed, void, void> {
  if (outer?.aborted === true) return;
  const stop = new AbortController();
  const { signal } = stop;
  const mail = new Mailbox<Mail>();
  const leave = (): void => stop.abort();
  const clock = new Clock(() => mail.post({ type: "look" }));
  let asking: Promise<void> | undefined;
  outer?.addEventListener("abort", leave, { once: true });
  signal.addEventListener("abort", () => mail.post({ type: "ended" }), { once: true });
  try {
    const hub = link.storage.hub();
    const shown = await shownBefore(hub, session, start);
    const isLate = start !== "loop" && start !== "session";
    for await (const item of begun(link, session, recorded, start, signal)) yield { item, isKnown: true };
    const attempts = new Attempts();
    const isShown = ({ delta }: OffsetDelta) => recorded.isOpen(delta) && !attempts.isVoid(delta);
    if (isLate) for (const one of shown.deltas) if (isShown(one)) yield { item: live(one), isKnown: true };
    void listen(hub, session, shown.offset, signal, mail);
    asking = runEnd(link, session, { runId, signal }).then((error) =>
      mail.post(error === undefined ? { type: "ended" } : { type: "failed", error }),
    );
    yield* told(recorded.news());
    if (!isLate) for (const one of shown.deltas) if (isShown(one)) yield { item: live(one), isKnown: false };
    for (;;) {
      const next = await mail.take();
      if (signal.aborted) return;
      if (next.type !== "live" || next.item.delta.body.type === "recorded") yield* told(recorded.news());
      else if (isShown(next.item)) yield { item: live(next.item), isKnown: false };
      if (next.type === "look") clock.wind();
      if (next.type === "failed") throw next.error;
      if (next.type === "ended") return;
    }
  } finally {
    clock.stop();
    outer?.removeEventListener("abort", leave);
    stop.abort();
    mail.close();
    // A question that is under way when its connection is closed ends the process.
    await asking;
  }
}

/** Strikes some time after it was wound, once. */
class Clock {
  readonly #strike: () => void;
  #timer: NodeJS.Timeout;

  constructor(strike: () => void) {
    this.#strike = strike;
    this.#timer = setTimeout(strike, LOOK_AGAIN_MS);
  }

  wind(): void {
    this.#timer = setTimeout(this.#strike, LOOK_AGAIN_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

async function* begun(
  link: Link,
  session: string,
  recorded: Recorded,
  start: From | Place,
  signal: AbortSignal,
): AsyncGenerator<News, void, void> {
  if (typeof start !== "string") yield* recorded.resume(start);
  else yield* recorded.begin(start, start === "loop" ? await openSince(link, session, signal) : undefined);
}

async function* told(news: AsyncIterable<News>): AsyncGenerator<Followed, void, void> {
  for await (const item of news) yield { item, isKnown: false };
}

function live(one: OffsetDelta): LiveItem {
  return { type: "delta", ...one };
}

// Live output is a comfort: when it cannot be had, what is recorded still comes.

async function shownBefore(hub: StreamHub, session: string, start: From | Place): Promise<Snapshot> {
  const to = typeof start === "string" ? undefined : start.offset;
  try {
    const { deltas, offset } = await hub.snapshot(session, to === undefined ? {} : { to });
    return { deltas, offset: to ?? offset };
  } catch {
    return { deltas: [], offset: to ?? 0 };
  }
}

async function listen(
  hub: StreamHub,
  session: string,
  from: number,
  signal: AbortSignal,
  mail: Mailbox<Mail>,
): Promise<void> {
  try {
    for await (const item of hub.watch({ session, from, signal })) await mail.hand({ type: "live", item });
  } catch {
    // `LOOK_AGAIN_MS` carries on.
  }
}
