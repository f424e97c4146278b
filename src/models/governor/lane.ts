import type { VendorLimits } from "../../schema/vendor-limits.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";
import { SaidLimits } from "./said-limits.ts";
import { Spending } from "./spending.ts";

// Who may ask a vendor with one key, and when. No clock and no timer: time arrives as data.
//
// Invariants
//   G1. Never more under way than `concurrent`, nor more in any minute than the limits a minute say.
//   G2. Of one model's questions the one that has waited longest goes first. A question that waits for its model's vendor
//       does not hold up those of other models; one that waits for room does, so that a large one has its turn.
//   G3. Whoever waits, waits for a moment that `wakeAtMs` names or for one that is under way: nobody is forgotten.

type Waiting = { readonly id: number; readonly model: string; readonly tokens: number };

export type Turn = {
  readonly admitted: readonly number[];
  /** When to look again, if nothing else happens before. */
  readonly wakeAtMs?: number | undefined;
};

/** How a question ended: `tokens` of one that was answered. */
export type Ending =
  | { readonly type: "answered"; readonly tokens: number }
  | { readonly type: "refused"; readonly retryAfterMs?: number | undefined }
  | { readonly type: "gone" };

/** Why a question waits, and until when if that is known. */
export type Held = { readonly for: "vendor" | "rate" | "places"; readonly untilMs?: number };

/** Weight of the newest, in how long a question takes. */
const NEWEST_SHARE = 0.2;

export class Lane {
  readonly #limits: VendorLimits;
  readonly #spending = new Spending();
  readonly #said = new Map<string, SaidLimits>();
  readonly #running = new Map<number, { readonly model: string; readonly sinceMs: number }>();
  #waiting: Waiting[] = [];
  readonly #held = new Map<number, Held>();
  #takesMs = 0;

  constructor(limits: VendorLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get running(): number {
    return this.#running.size;
  }

  join(id: number, model: string, tokens: number): void {
    this.#waiting.push({ id, model, tokens });
  }

  giveUp(id: number): void {
    this.#waiting = this.#waiting.filter((one) => one.id !== id);
  }

  /** Those that wait, in order, and why, as `next` has found it. */
  get held(): readonly (Held & { readonly id: number; readonly ahead: number })[] {
    return this.#waiting.flatMap(({ id }, ahead) => {
      const held = this.#held.get(id);
      return held === undefined ? [] : [{ ...held, id, ahead }];
    });
  }

  /** Lets in who may go now. */
  next(nowMs: number): Turn {
    const admitted: number[] = [];
    const left: Waiting[] = [];
    let wakeAtMs = Number.POSITIVE_INFINITY;
    let full: Held | undefined;
    this.#held.clear();
    for (const one of this.#waiting) {
      const openAt = this.openAtMs(one.model, nowMs);
      const roomAt = full !== undefined || openAt > nowMs ? nowMs : this.#roomAtMs(one, nowMs);
      if (roomAt > nowMs) full = heldUntil(Number.isFinite(roomAt) ? "rate" : "places", roomAt);
      const goesAt = Math.max(openAt, roomAt);
      if (full !== undefined || goesAt > nowMs) {
        if (goesAt > nowMs) wakeAtMs = Math.min(wakeAtMs, goesAt);
        this.#held.set(one.id, openAt > nowMs || full === undefined ? heldUntil("vendor", openAt) : full);
        left.push(one);
        continue;
      }
      admitted.push(one.id);
      this.#running.set(one.id, { model: one.model, sinceMs: nowMs });
      this.#spending.add(one.id, one.tokens, nowMs);
      this.#saidOf(one.model).asked(one.id);
    }
    this.#waiting = left;
    return Number.isFinite(wakeAtMs) ? { admitted, wakeAtMs } : { admitted };
  }

  /** When the vendor takes questions to this model again. */
  openAtMs(model: string, nowMs: number): number {
    return this.#said.get(model)?.openAtMs(nowMs) ?? 0;
  }

  /** How long one that joins now will probably wait for those before it. */
  expectedWaitMs(): number {
    const { concurrent, requestsPerMinute } = this.#limits;
    const byRate = requestsPerMinute === undefined ? 0 : (this.waiting / requestsPerMinute) * 60_000;
    const byRoom = (this.waiting / (concurrent ?? Math.max(1, this.running))) * this.#takesMs;
    return Math.ceil(Math.max(byRate, byRoom));
  }

  seen(id: number, limits: RateLimits, nowMs: number): void {
    const running = this.#running.get(id);
    if (running !== undefined) this.#saidOf(running.model).seen(id, limits, nowMs);
  }

  /** Its answer has begun. @returns Whether others may go now. */
  letIn(id: number): boolean {
    const running = this.#running.get(id);
    return running !== undefined && this.#saidOf(running.model).letIn(id);
  }

  ended(id: number, ending: Ending, nowMs: number): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    const said = this.#saidOf(running.model);
    switch (ending.type) {
      case "answered":
        said.letIn(id);
        this.#spending.correct(id, ending.tokens);
        this.#takesMs += (nowMs - running.sinceMs - this.#takesMs) * NEWEST_SHARE;
        break;
      case "refused":
        said.refused(id, ending.retryAfterMs, nowMs);
        break;
      case "gone":
        said.gone(id);
        break;
    }
  }

  #roomAtMs({ tokens }: Waiting, nowMs: number): number {
    const { concurrent, requestsPerMinute, tokensPerMinute } = this.#limits;
    if (concurrent !== undefined && this.#running.size >= concurrent) return Number.POSITIVE_INFINITY;
    const forRequest =
      requestsPerMinute === undefined ? nowMs : this.#spending.roomForRequestAtMs(requestsPerMinute, nowMs);
    const forTokens =
      tokensPerMinute === undefined
        ? nowMs
        : this.#spending.roomForTokensAtMs(tokens, tokensPerMinute, nowMs);
    return Math.max(forRequest, forTokens);
  }

  #saidOf(model: string): SaidLimits {
    const known = this.#said.get(model);
    if (known !== undefined) return known;
    const said = new SaidLimits();
    this.#said.set(model, said);
    return said;
  }
}

function heldUntil(what: Held["for"], atMs: number): Held {
  return { for: what, ...(Number.isFinite(atMs) ? { untilMs: atMs } : {}) };
}
