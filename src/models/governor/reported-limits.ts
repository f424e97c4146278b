import type { LimitUnit, RateLimits } from "../rate-limits/rate-limits.ts";

/** "Nothing is left" is trusted for this long: some proxies report it about something else. */
const MAX_TRUSTED_MS = 60_000;

/** A rejection with a longer delay closes the model to all runs of this worker for this long; then one request probes it. */
const MAX_CLOSED_MS = 15 * 60_000;

/** With this many concurrent probes there is no reason to count them. */
const MAX_PROBES = 64;

type RemainingAllowance = {
  readonly counted: LimitUnit;
  readonly remaining: number;
  readonly resetAtMs: number;
  readonly limit: number | undefined;
};

/** The limits that a vendor reports for one model, and careful probing after a rejection. Time arrives as data. */
export class ReportedLimits {
  readonly #allowances = new Map<string, RemainingAllowance>();
  #blockedUntilMs = 0;
  /** Requests that were sent and have no answer yet. */
  readonly #probing = new Set<number>();
  /** How many probes may run: one after a rejection, and one more for each that is admitted. Absent: any number. */
  #maxProbes: number | undefined;

  /** Returns when the next request may go; infinite while that depends on running requests. */
  getOpenAtMs(nowMs: number): number {
    let openAt = this.#blockedUntilMs;
    for (const [name, allowance] of this.#allowances) {
      if (allowance.resetAtMs <= nowMs) this.#renew(name, allowance, nowMs);
      else if (allowance.remaining <= 0) openAt = Math.max(openAt, allowance.resetAtMs);
    }
    const isFull = this.#maxProbes !== undefined && this.#probing.size >= this.#maxProbes;
    return isFull && openAt <= nowMs ? Number.POSITIVE_INFINITY : openAt;
  }

  /** Renews an allowance after its reset: to the reported limit, or to what the first request finds. */
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

  /** Records the limits in an answer's headers. Running requests may not be counted in them yet. */
  recordLimits(id: number, limits: RateLimits, nowMs: number): void {
    const others = this.#probing.size - (this.#probing.has(id) ? 1 : 0);
    for (const { name, unit, remaining, resetAtMs, limit } of limits) {
      if (remaining === undefined || resetAtMs === undefined) continue;
      this.#allowances.set(name, {
        counted: unit,
        remaining: unit === "requests" ? remaining - others : remaining,
        resetAtMs: Math.min(resetAtMs, nowMs + MAX_TRUSTED_MS),
        limit,
      });
    }
  }

  /** @returns Whether more requests may probe. */
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

  /** Records a request whose outcome is unknown. */
  recordLoss(id: number): void {
    this.#probing.delete(id);
  }
}
