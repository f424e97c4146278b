import type { Counted, RateLimits } from "../rate-limits/rate-limits.ts";

/** "Nothing is left" is believed for this long: some who stand in between say it of something else. */
const MAX_BELIEVED_MS = 60_000;

/** A refusal that names a longer delay closes the model to all of this worker's runs for this long; then one knocks. */
const MAX_CLOSED_MS = 15 * 60_000;

/** So many knocking at once are no reason to count them any more. */
const MAX_RAMP = 64;

type Left = {
  readonly counted: Counted;
  readonly remaining: number;
  readonly resetAtMs: number;
  readonly limit: number | undefined;
};

/** What a vendor has said of one model, and how carefully it is asked behind a refusal. Time arrives as data. */
export class SaidLimits {
  readonly #left = new Map<string, Left>();
  #blockedUntilMs = 0;
  /** Asked, and nothing has come yet. */
  readonly #knocking = new Set<number>();
  /** How many may knock at once: one behind a refusal, and one more for each that is let in. Absent: any number. */
  #ramp: number | undefined;

  /** When the next question may go; infinite while it depends on those that are under way. */
  openAtMs(nowMs: number): number {
    let openAt = this.#blockedUntilMs;
    for (const [name, left] of this.#left) {
      if (left.resetAtMs <= nowMs) this.#renew(name, left, nowMs);
      else if (left.remaining <= 0) openAt = Math.max(openAt, left.resetAtMs);
    }
    const isFull = this.#ramp !== undefined && this.#knocking.size >= this.#ramp;
    return isFull && openAt <= nowMs ? Number.POSITIVE_INFINITY : openAt;
  }

  /** What was used up is there again: as much as the vendor has said, or as much as the first one is told. */
  #renew(name: string, { counted, remaining, limit }: Left, nowMs: number): void {
    this.#left.delete(name);
    if (remaining > 0) return;
    if (limit === undefined || limit === 0) this.#ramp = 1;
    else this.#left.set(name, { counted, remaining: limit, limit, resetAtMs: nowMs + MAX_BELIEVED_MS });
  }

  asked(id: number): void {
    this.#knocking.add(id);
    for (const [name, left] of this.#left) {
      if (left.counted === "requests") this.#left.set(name, { ...left, remaining: left.remaining - 1 });
    }
  }

  /** The head of an answer. Those that knock may not have been counted yet. */
  seen(id: number, limits: RateLimits, nowMs: number): void {
    const others = this.#knocking.size - (this.#knocking.has(id) ? 1 : 0);
    for (const { name, counted, remaining, resetAtMs, limit } of limits) {
      if (remaining === undefined || resetAtMs === undefined) continue;
      this.#left.set(name, {
        counted,
        remaining: counted === "requests" ? remaining - others : remaining,
        resetAtMs: Math.min(resetAtMs, nowMs + MAX_BELIEVED_MS),
        limit,
      });
    }
  }

  /** @returns Whether more may knock now. */
  letIn(id: number): boolean {
    if (!this.#knocking.delete(id) || this.#ramp === undefined) return false;
    this.#ramp = this.#ramp >= MAX_RAMP ? undefined : this.#ramp + 1;
    return true;
  }

  refused(id: number, retryAfterMs: number | undefined, nowMs: number): void {
    this.#ramp = Math.max(1, Math.floor(Math.min(this.#ramp ?? MAX_RAMP, this.#knocking.size) / 2));
    this.#knocking.delete(id);
    if (retryAfterMs !== undefined) {
      this.#blockedUntilMs = Math.max(this.#blockedUntilMs, nowMs + Math.min(retryAfterMs, MAX_CLOSED_MS));
    }
  }

  /** Nobody knows what became of it. */
  gone(id: number): void {
    this.#knocking.delete(id);
  }
}
