import type { LimitUnit, RateLimits } from "../rate-limits/rate-limits.ts";

/** "Nothing is left" is believed for this long: some who stand in between say it of something else. */
const MAX_TRUSTED_MS = 60_000;

/** A refusal that names a longer delay closes the model to all of this worker's runs for this long; then one knocks. */
const MAX_CLOSED_MS = 15 * 60_000;

/** So many knocking at once are no reason to count them any more. */
const MAX_PROBES = 64;

type RemainingAllowance = {
  readonly counted: LimitUnit;
  readonly remaining: number;
  readonly resetAtMs: number;
  readonly limit: number | undefined;
};

/** What a vendor has said of one model, and how carefully it is asked behind a refusal. Time arrives as data. */
export class ReportedLimits {
  readonly #allowances = new Map<string, RemainingAllowance>();
  #blockedUntilMs = 0;
  /** Asked, and nothing has come yet. */
  readonly #probing = new Set<number>();
  /** How many may knock at once: one behind a refusal, and one more for each that is let in. Absent: any number. */
  #maxProbes: number | undefined;

  /** When the next question may go; infinite while it depends on those that are under way. */
  getOpenAtMs(nowMs: number): number {
    let openAt = this.#blockedUntilMs;
    for (const [name, allowance] of this.#allowances) {
      if (allowance.resetAtMs <= nowMs) this.#renew(name, allowance, nowMs);
      else if (allowance.remaining <= 0) openAt = Math.max(openAt, allowance.resetAtMs);
    }
    const isFull = this.#maxProbes !== undefined && this.#probing.size >= this.#maxProbes;
    return isFull && openAt <= nowMs ? Number.POSITIVE_INFINITY : openAt;
  }

  /** What was used up is there again: as much as the vendor has said, or as much as the first one is told. */
  #renew(name: string, { counted, remaining, limit }: RemainingAllowance, nowMs: number): void {
    this.#allowances.delete(name);
    if (remaining > 0) return;
    if (limit === undefined || limit === 0) this.#maxProbes = 1;
    else this.#allowances.set(name, { counted, remaining: limit, limit, resetAtMs: nowMs + MAX_TRUSTED_MS });
  }

  recordRequest(id: number): void {
    this.#probing.add(id);
    for (const [name, allowance] of this.#allowances) {
      if (allowance.counted === "requests")
        this.#allowances.set(name, { ...allowance, remaining: allowance.remaining - 1 });
    }
  }

  /** The head of an answer. Those that knock may not have been counted yet. */
  recordLimits(id: number, limits: RateLimits, nowMs: number): void {
    const others = this.#probing.size - (this.#probing.has(id) ? 1 : 0);
    for (const { name, counted: unit, remaining, resetAtMs, limit } of limits) {
      if (remaining === undefined || resetAtMs === undefined) continue;
      this.#allowances.set(name, {
        counted: unit,
        remaining: unit === "requests" ? remaining - others : remaining,
        resetAtMs: Math.min(resetAtMs, nowMs + MAX_TRUSTED_MS),
        limit,
      });
    }
  }

  /** @returns Whether more may knock now. */
  recordFirstAnswer(id: number): boolean {
    if (!this.#probing.delete(id) || this.#maxProbes === undefined) return false;
    this.#maxProbes = this.#maxProbes >= MAX_PROBES ? undefined : this.#maxProbes + 1;
    return true;
  }

  recordRejection(id: number, retryAfterMs: number | undefined, nowMs: number): void {
    this.#maxProbes = Math.max(
      1,
      Math.floor(Math.min(this.#maxProbes ?? MAX_PROBES, this.#probing.size) / 2),
    );
    this.#probing.delete(id);
    if (retryAfterMs !== undefined) {
      this.#blockedUntilMs = Math.max(this.#blockedUntilMs, nowMs + Math.min(retryAfterMs, MAX_CLOSED_MS));
    }
  }

  /** Nobody knows what became of it. */
  recordLoss(id: number): void {
    this.#probing.delete(id);
  }
}
