import type { VendorLimits } from "../../schema/vendor-limits.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";
import { ReportedLimits } from "./reported-limits.ts";
import { UsageWindow } from "./usage-window.ts";

// Decides which requests may go to a vendor with one key, and when. No clock and no timer: time arrives as data.
//
// Invariants
//   G1. Never more than `concurrent` requests run, and never more start in any minute than the limits per minute allow.
//   G2. Of one model's requests the one that has waited longest goes first. A request that waits for its model's vendor
//       does not block those of other models; one that waits for capacity does, so that a large one has its turn.
//   G3. Every waiting request waits for a time that `wakeAtMs` names or for a running request: none is forgotten.

type QueuedQuestion = { readonly id: number; readonly model: string; readonly tokens: number };

export type AdmissionResult = {
  readonly admitted: readonly number[];
  /** When to check again, if nothing else happens before. */
  readonly wakeAtMs?: number | undefined;
};

/** How a request ended: `tokens` is the usage of one that was answered. */
export type QuestionEnding =
  | { readonly type: "answered"; readonly tokens: number }
  | { readonly type: "rejected"; readonly retryAfterMs?: number | undefined }
  | { readonly type: "gone" };

/** Why a request waits, and until when if that is known. */
export type WaitReason = { readonly type: "vendor" | "rate" | "concurrency"; readonly untilMs?: number };

/** The weight of the newest request in the average duration. */
const NEWEST_WEIGHT = 0.2;

export class Lane {
  readonly #limits: VendorLimits;
  readonly #usageWindow = new UsageWindow();
  readonly #vendorLimits = new Map<string, ReportedLimits>();
  readonly #running = new Map<number, { readonly model: string; readonly sinceMs: number }>();
  #waiting: QueuedQuestion[] = [];
  readonly #waitReasons = new Map<number, WaitReason>();
  #averageMs = 0;

  constructor(limits: VendorLimits) {
    this.#limits = limits;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  join(id: number, model: string, tokens: number): void {
    this.#waiting.push({ id, model, tokens });
  }

  leave(id: number): void {
    this.#waiting = this.#waiting.filter((one) => one.id !== id);
  }

  /** The waiting requests, in order, with the reasons that `admitNext` found. */
  get waitReasons(): readonly (WaitReason & { readonly id: number; readonly ahead: number })[] {
    return this.#waiting.flatMap(({ id }, ahead) => {
      const reason = this.#waitReasons.get(id);
      return reason === undefined ? [] : [{ ...reason, id, ahead }];
    });
  }

  /** Admits the requests that may go. */
  admitNext(nowMs: number): AdmissionResult {
    const admitted: number[] = [];
    const remaining: QueuedQuestion[] = [];
    let wakeAtMs = Number.POSITIVE_INFINITY;
    let blockedBy: WaitReason | undefined;
    this.#waitReasons.clear();
    for (const one of this.#waiting) {
      const openAt = this.getOpenAtMs(one.model, nowMs);
      const capacityAt =
        blockedBy !== undefined || openAt > nowMs ? nowMs : this.#getCapacityAtMs(one, nowMs);
      if (capacityAt > nowMs)
        blockedBy = createWaitReason(Number.isFinite(capacityAt) ? "rate" : "concurrency", capacityAt);
      const admitAt = Math.max(openAt, capacityAt);
      if (blockedBy !== undefined || admitAt > nowMs) {
        if (admitAt > nowMs) wakeAtMs = Math.min(wakeAtMs, admitAt);
        this.#waitReasons.set(
          one.id,
          openAt > nowMs || blockedBy === undefined ? createWaitReason("vendor", openAt) : blockedBy,
        );
        remaining.push(one);
        continue;
      }
      admitted.push(one.id);
      this.#running.set(one.id, { model: one.model, sinceMs: nowMs });
      this.#usageWindow.add(one.id, one.tokens, nowMs);
      this.#getReportedLimits(one.model).recordRequest(one.id);
    }
    this.#waiting = remaining;
    return Number.isFinite(wakeAtMs) ? { admitted, wakeAtMs } : { admitted };
  }

  /** Returns when the vendor accepts requests to this model again. */
  getOpenAtMs(model: string, nowMs: number): number {
    return this.#vendorLimits.get(model)?.getOpenAtMs(nowMs) ?? 0;
  }

  /** Estimates how long a request that joins now waits for those before it. */
  estimateWaitMs(): number {
    const { concurrent, requestsPerMinute } = this.#limits;
    const byRate = requestsPerMinute === undefined ? 0 : (this.waitingCount / requestsPerMinute) * 60_000;
    const byConcurrency =
      (this.waitingCount / (concurrent ?? Math.max(1, this.runningCount))) * this.#averageMs;
    return Math.ceil(Math.max(byRate, byConcurrency));
  }

  recordLimits(id: number, limits: RateLimits, nowMs: number): void {
    const running = this.#running.get(id);
    if (running !== undefined) this.#getReportedLimits(running.model).recordLimits(id, limits, nowMs);
  }

  /** The answer has begun. @returns Whether other requests may go. */
  recordFirstAnswer(id: number): boolean {
    const running = this.#running.get(id);
    return running !== undefined && this.#getReportedLimits(running.model).recordFirstAnswer(id);
  }

  recordEnd(id: number, ending: QuestionEnding, nowMs: number): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    const reported = this.#getReportedLimits(running.model);
    switch (ending.type) {
      case "answered":
        reported.recordFirstAnswer(id);
        this.#usageWindow.correct(id, ending.tokens);
        this.#averageMs += (nowMs - running.sinceMs - this.#averageMs) * NEWEST_WEIGHT;
        break;
      case "rejected":
        reported.recordRejection(id, ending.retryAfterMs, nowMs);
        break;
      case "gone":
        reported.recordLoss(id);
        break;
    }
  }

  #getCapacityAtMs({ tokens }: QueuedQuestion, nowMs: number): number {
    const { concurrent, requestsPerMinute, tokensPerMinute } = this.#limits;
    if (concurrent !== undefined && this.#running.size >= concurrent) return Number.POSITIVE_INFINITY;
    const forRequest =
      requestsPerMinute === undefined
        ? nowMs
        : this.#usageWindow.getRequestCapacityAtMs(requestsPerMinute, nowMs);
    const forTokens =
      tokensPerMinute === undefined
        ? nowMs
        : this.#usageWindow.getTokenCapacityAtMs(tokens, tokensPerMinute, nowMs);
    return Math.max(forRequest, forTokens);
  }

  #getReportedLimits(model: string): ReportedLimits {
    const known = this.#vendorLimits.get(model);
    if (known !== undefined) return known;
    const reported = new ReportedLimits();
    this.#vendorLimits.set(model, reported);
    return reported;
  }
}

function createWaitReason(what: WaitReason["type"], atMs: number): WaitReason {
  return { type: what, ...(Number.isFinite(atMs) ? { untilMs: atMs } : {}) };
}
