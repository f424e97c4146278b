import { createHash } from "node:crypto";
import { estimateMessage, estimateText } from "../../core/view/estimate.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { VendorLimits, WorkerLimits } from "../../schema/vendor-limits.ts";
import type { ModelRequest, Provider, StreamOptions, Wait } from "../provider.ts";
import { ProviderError } from "../provider-error.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";
import { type Ending, Lane } from "./lane.ts";

/** A vendor that is closed for longer is waited for by Temporal, which holds nothing meanwhile. */
const MAX_CLOSED_MS = 60_000;

/** The longest wait for one's turn: a model step has an hour, and an answer may take most of it. */
const MAX_WAIT_MS = 600_000;

/** Of one worker's 500 places for steps: the others are for tools and other vendors. */
const MAX_WAITING = 400;

/** Keys change: a lane that nobody has used for so long is forgotten. */
const FORGET_MS = 600_000;

export type GovernorOptions = {
  readonly limits?: WorkerLimits;
  readonly now?: () => number;
  readonly maxWaitMs?: number;
  readonly maxWaiting?: number;
};

type Kept = { readonly lane: Lane; timer: NodeJS.Timeout | undefined; usedAtMs: number };
type Waiter = {
  readonly kept: Kept;
  readonly model: string;
  readonly letGo: () => void;
  readonly tell: (wait: Omit<Wait, "vendor">) => void;
  readonly giveBack: (closedMs: number) => void;
};

/**
 * Lets questions to a vendor pass as its limits allow, those of the configuration and those that it has told us, one lane
 * a key. Who must wait waits in order; who would wait for long is given back as `rate-limited`, with the delay.
 */
export class Governor {
  readonly #options: Required<GovernorOptions>;
  readonly #lanes = new Map<string, Kept>();
  readonly #waiters = new Map<number, Waiter>();
  #ids = 0;

  constructor(options: GovernorOptions = {}) {
    const { limits = {}, now = steadyNow, maxWaitMs = MAX_WAIT_MS, maxWaiting = MAX_WAITING } = options;
    this.#options = { limits, now, maxWaitMs, maxWaiting };
  }

  /** The same provider, asked as the limits allow. */
  govern(provider: Provider): Provider {
    const { id, protocol } = provider;
    return {
      id,
      protocol,
      ...(provider.outputRoad === undefined ? {} : { outputRoad: provider.outputRoad.bind(provider) }),
      stream: (request, options) => this.#stream(provider, request, options),
    };
  }

  async #stream(
    provider: Provider,
    request: ModelRequest,
    options: StreamOptions,
  ): Promise<AssistantMessage> {
    const kept = this.#laneOf(request);
    this.#ids += 1;
    const id = this.#ids;
    await this.#turn(kept, id, request, options);
    const { now } = this.#options;
    let ending: Ending = { type: "gone" };
    try {
      const answer = await provider.stream(request, {
        ...options,
        onRateLimits: (limits) => {
          kept.lane.seen(id, now === steadyNow ? steady(limits) : limits, now());
          this.#look(kept);
          options.onRateLimits?.(limits);
        },
        onDelta: (delta) => {
          if (kept.lane.letIn(id)) this.#look(kept);
          options.onDelta?.(delta);
        },
      });
      const { input, output, cacheWrite } = answer.usage;
      ending = { type: "answered", tokens: input + output + cacheWrite };
      return answer;
    } catch (error) {
      if (error instanceof ProviderError && error.fault === "rate-limited") {
        ending = { type: "refused", retryAfterMs: error.retryAfterMs };
      }
      throw error;
    } finally {
      kept.lane.ended(id, ending, now());
      if (ending.type === "refused") this.#giveBackClosed(kept, request.model.id);
      this.#look(kept);
    }
  }

  async #turn(
    kept: Kept,
    id: number,
    { model, ...asked }: ModelRequest,
    { signal, onWait, maxWaitMs: patienceMs = Number.POSITIVE_INFINITY }: StreamOptions,
  ): Promise<void> {
    const { now, maxWaiting } = this.#options;
    const maxWaitMs = Math.max(0, Math.min(this.#options.maxWaitMs, patienceMs));
    const { lane } = kept;
    const closed = (ms: number) =>
      givenBack(`${model.provider} takes no question to ${model.id} yet, as it has said`, ms);
    const closedMs = closedFor(lane, model.id, now());
    if (closedMs > MAX_CLOSED_MS) throw closed(closedMs);
    if (lane.waiting >= maxWaiting) {
      const many = `${lane.waiting} questions to ${model.provider} wait for their turn on this worker`;
      throw givenBack(many, lane.expectedWaitMs());
    }
    if (signal.aborted) throw cancelled(model.provider);
    await new Promise<void>((resolve, reject) => {
      const stop = () => end(() => reject(cancelled(model.provider)));
      const late = () => {
        const long = `a question to ${model.provider} has waited for its turn for ${maxWaitMs / 1000} s`;
        const delayMs = Math.max(lane.expectedWaitMs(), closedFor(lane, model.id, now()));
        end(() => reject(givenBack(long, delayMs)));
      };
      const timer = setTimeout(late, maxWaitMs);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        this.#waiters.delete(id);
        onWait?.(undefined);
      };
      const end = (answer: () => void) => {
        settle();
        lane.giveUp(id);
        answer();
        this.#look(kept);
      };
      signal.addEventListener("abort", stop, { once: true });
      this.#waiters.set(id, {
        kept,
        model: model.id,
        tell: (wait) => onWait?.({ ...wait, vendor: model.provider }),
        giveBack: (ms) => end(() => reject(closed(ms))),
        letGo: () => {
          settle();
          resolve();
        },
      });
      // Counting a long conversation takes long: only where somebody has set a limit.
      const isCounted = this.#limitsOf(model.provider).tokensPerMinute !== undefined;
      lane.join(id, model.id, isCounted ? tokensOf(asked) : 0);
      this.#look(kept);
    });
  }

  /** A vendor that has just said that it is closed for long is waited for elsewhere. */
  #giveBackClosed(kept: Kept, model: string): void {
    const closedMs = closedFor(kept.lane, model, this.#options.now());
    if (closedMs <= MAX_CLOSED_MS) return;
    const those = [...this.#waiters.values()].filter((one) => one.kept === kept && one.model === model);
    for (const one of those) one.giveBack(closedMs);
  }

  /** Lets go who may, and looks again when the next may. */
  #look(kept: Kept): void {
    const nowMs = this.#options.now();
    clearTimeout(kept.timer);
    kept.timer = undefined;
    kept.usedAtMs = nowMs;
    const { admitted, wakeAtMs } = kept.lane.next(nowMs);
    if (wakeAtMs !== undefined) {
      kept.timer = setTimeout(() => this.#look(kept), Math.min(wakeAtMs - nowMs, FORGET_MS));
    }
    for (const id of admitted) this.#waiters.get(id)?.letGo();
    for (const { id, untilMs, ...held } of kept.lane.held) {
      this.#waiters.get(id)?.tell({ ...held, forMs: untilMs === undefined ? undefined : untilMs - nowMs });
    }
  }

  #laneOf({ model, apiKey, headers }: ModelRequest): Kept {
    const secrets = JSON.stringify([apiKey ?? "", headers ?? {}]);
    const key = `${model.baseUrl} ${createHash("sha256").update(secrets).digest("hex")}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const nowMs = this.#options.now();
    for (const [other, { lane, usedAtMs }] of this.#lanes) {
      const isIdle = lane.waiting === 0 && lane.running === 0;
      if (isIdle && usedAtMs + FORGET_MS < nowMs) this.#lanes.delete(other);
    }
    const kept = { lane: new Lane(this.#limitsOf(model.provider)), timer: undefined, usedAtMs: nowMs };
    this.#lanes.set(key, kept);
    return kept;
  }

  #limitsOf(vendor: string): VendorLimits {
    const { limits } = this.#options;
    return (Object.hasOwn(limits, vendor) ? limits[vendor] : limits["default"]) ?? {};
  }
}

/** Milliseconds since 1970 by a clock that nobody sets: a lane must not be closed for the hour that a clock steps back. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Moments of the clock on the wall in those of the steady one. */
function steady(limits: RateLimits): RateLimits {
  const aheadMs = steadyNow() - Date.now();
  return limits.map((one) =>
    one.resetAtMs === undefined ? one : { ...one, resetAtMs: one.resetAtMs + aheadMs },
  );
}

/** As far as the vendor has said for how long. */
function closedFor(lane: Lane, model: string, nowMs: number): number {
  const ms = lane.openAtMs(model, nowMs) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

/** Of the question; what was cached is known when it is answered. */
function tokensOf({ systemPrompt, messages, tools }: Omit<ModelRequest, "model">): number {
  const said = messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  return said + estimateText(systemPrompt) + (tools.length === 0 ? 0 : estimateText(JSON.stringify(tools)));
}

function givenBack(why: string, delayMs: number): ProviderError {
  const retryAfterMs = Math.max(1000, Math.ceil(delayMs));
  const message = `${why}: asked again in ${Math.ceil(retryAfterMs / 1000)} s`;
  return new ProviderError("rate-limited", message, { retryAfterMs });
}

function cancelled(vendor: string): ProviderError {
  return new ProviderError("cancelled", `the question to ${vendor} was cancelled`);
}
