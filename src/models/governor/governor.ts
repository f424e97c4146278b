import { createHash } from "node:crypto";
import { estimateMessage, estimateText } from "../../core/view/estimate.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { VendorLimits, WorkerLimits } from "../../schema/vendor-limits.ts";
import type { ModelRequest, Provider, RequestWait, StreamOptions } from "../provider.ts";
import { ProviderError } from "../provider-error.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";
import { Lane, type QuestionEnding } from "./lane.ts";

/** A vendor that is closed for longer is waited for by Temporal, which occupies no slot meanwhile. */
const MAX_LOCAL_CLOSED_MS = 60_000;

/** The longest wait for a turn: a model step has one hour, and an answer may take most of it. */
const MAX_WAIT_MS = 600_000;

/** The most waiting requests. A worker has 500 slots for steps; the others are for tools and other vendors. */
const MAX_WAITING = 400;

/** Keys change: a lane that was unused for this long is dropped. */
const LANE_EXPIRY_MS = 600_000;

export type GovernorOptions = {
  readonly limits?: WorkerLimits;
  readonly now?: () => number;
  readonly maxWaitMs?: number;
  readonly maxWaiting?: number;
};

type LaneEntry = { readonly lane: Lane; timer: NodeJS.Timeout | undefined; usedAtMs: number };
type Waiter = {
  readonly entry: LaneEntry;
  readonly model: string;
  readonly admit: () => void;
  readonly reportWait: (wait: Omit<RequestWait, "vendor">) => void;
  readonly reject: (closedMs: number) => void;
};

/**
 * Admits requests to a vendor within its limits, configured or reported, with one lane for each
 * key. Requests wait in order; a request that would wait long fails as `rate-limited`, with the delay.
 */
export class Governor {
  readonly #options: Required<GovernorOptions>;
  readonly #lanes = new Map<string, LaneEntry>();
  readonly #waiters = new Map<number, Waiter>();
  #lastId = 0;

  constructor(options: GovernorOptions = {}) {
    const { limits = {}, now = monotonicNow, maxWaitMs = MAX_WAIT_MS, maxWaiting = MAX_WAITING } = options;
    this.#options = { limits, now, maxWaitMs, maxWaiting };
  }

  /** Returns the same provider with requests limited. */
  govern(provider: Provider): Provider {
    const { id, protocol } = provider;
    return {
      id,
      protocol,
      ...omitUndefined({ selectOutputMode: provider.selectOutputMode?.bind(provider) }),
      stream: (request, options) => this.#stream(provider, request, options),
    };
  }

  async #stream(
    provider: Provider,
    request: ModelRequest,
    options: StreamOptions,
  ): Promise<AssistantMessage> {
    const entry = this.#getLane(request);
    this.#lastId += 1;
    const id = this.#lastId;
    await this.#waitForAdmission(entry, id, request, options);
    const { now } = this.#options;
    let ending: QuestionEnding = { type: "gone" };
    try {
      const answer = await provider.stream(request, {
        ...options,
        onRateLimits: (limits) => {
          entry.lane.recordLimits(id, now === monotonicNow ? toMonotonic(limits) : limits, now());
          this.#admitNext(entry);
          options.onRateLimits?.(limits);
        },
        onDelta: (delta) => {
          if (entry.lane.recordFirstAnswer(id)) this.#admitNext(entry);
          options.onDelta?.(delta);
        },
      });
      const { input, output, cacheWrite } = answer.usage;
      ending = { type: "answered", tokens: input + output + cacheWrite };
      return answer;
    } catch (error) {
      if (error instanceof ProviderError && error.fault === "rate-limited") {
        ending = { type: "rejected", retryAfterMs: error.retryAfterMs };
      }
      throw error;
    } finally {
      entry.lane.recordEnd(id, ending, now());
      if (ending.type === "rejected") this.#rejectClosed(entry, request.model.id);
      this.#admitNext(entry);
    }
  }

  async #waitForAdmission(
    entry: LaneEntry,
    id: number,
    { model, ...question }: ModelRequest,
    { signal, onWait, maxWaitMs: callerMaxWaitMs = Number.POSITIVE_INFINITY }: StreamOptions,
  ): Promise<void> {
    const { now, maxWaiting } = this.#options;
    const maxWaitMs = Math.max(0, Math.min(this.#options.maxWaitMs, callerMaxWaitMs));
    const { lane } = entry;
    const createClosedError = (ms: number) =>
      createWaitError(`${model.provider} accepts no requests to ${model.id} for now`, ms);
    const closedMs = getClosedMs(lane, model.id, now());
    if (closedMs > MAX_LOCAL_CLOSED_MS) throw createClosedError(closedMs);
    if (lane.waitingCount >= maxWaiting) {
      const message = `${lane.waitingCount} requests to ${model.provider} are waiting on this worker`;
      throw createWaitError(message, lane.estimateWaitMs());
    }
    if (signal.aborted) throw createCancelledError(model.provider);
    await new Promise<void>((resolve, reject) => {
      const cancel = () => end(() => reject(createCancelledError(model.provider)));
      const timeOut = () => {
        const message = `a request to ${model.provider} has waited for its turn for ${maxWaitMs / 1000} s`;
        const delayMs = Math.max(lane.estimateWaitMs(), getClosedMs(lane, model.id, now()));
        end(() => reject(createWaitError(message, delayMs)));
      };
      const timer = setTimeout(timeOut, maxWaitMs);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        this.#waiters.delete(id);
        onWait?.(undefined);
      };
      const end = (answer: () => void) => {
        settle();
        lane.leave(id);
        answer();
        this.#admitNext(entry);
      };
      signal.addEventListener("abort", cancel, { once: true });
      this.#waiters.set(id, {
        entry,
        model: model.id,
        reportWait: (wait) => onWait?.({ ...wait, vendor: model.provider }),
        reject: (ms) => end(() => reject(createClosedError(ms))),
        admit: () => {
          settle();
          resolve();
        },
      });
      // Counting the tokens of a long conversation takes long, so it happens only if a limit is configured.
      const isCounted = this.#getLimits(model.provider).tokensPerMinute !== undefined;
      lane.join(id, model.id, isCounted ? estimateTokens(question) : 0);
      this.#admitNext(entry);
    });
  }

  /** Rejects requests to a vendor that has just reported that it is closed for long; they wait elsewhere. */
  #rejectClosed(entry: LaneEntry, model: string): void {
    const closedMs = getClosedMs(entry.lane, model, this.#options.now());
    if (closedMs <= MAX_LOCAL_CLOSED_MS) return;
    const waiters = [...this.#waiters.values()].filter((one) => one.entry === entry && one.model === model);
    for (const one of waiters) one.reject(closedMs);
  }

  /** Admits the requests that may go, and checks again when the next one may. */
  #admitNext(entry: LaneEntry): void {
    const nowMs = this.#options.now();
    clearTimeout(entry.timer);
    entry.timer = undefined;
    entry.usedAtMs = nowMs;
    const { admitted, wakeAtMs } = entry.lane.admitNext(nowMs);
    if (wakeAtMs !== undefined) {
      entry.timer = setTimeout(() => this.#admitNext(entry), Math.min(wakeAtMs - nowMs, LANE_EXPIRY_MS));
    }
    for (const id of admitted) this.#waiters.get(id)?.admit();
    for (const { id, untilMs, ...wait } of entry.lane.waitReasons) {
      this.#waiters
        .get(id)
        ?.reportWait({ ...wait, forMs: untilMs === undefined ? undefined : untilMs - nowMs });
    }
  }

  #getLane({ model, apiKey, headers }: ModelRequest): LaneEntry {
    const secrets = JSON.stringify([apiKey ?? "", headers ?? {}]);
    const key = `${model.baseUrl} ${createHash("sha256").update(secrets).digest("hex")}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const nowMs = this.#options.now();
    for (const [other, { lane, usedAtMs }] of this.#lanes) {
      const isIdle = lane.waitingCount === 0 && lane.runningCount === 0;
      if (isIdle && usedAtMs + LANE_EXPIRY_MS < nowMs) this.#lanes.delete(other);
    }
    const entry = { lane: new Lane(this.#getLimits(model.provider)), timer: undefined, usedAtMs: nowMs };
    this.#lanes.set(key, entry);
    return entry;
  }

  #getLimits(vendor: string): VendorLimits {
    const { limits } = this.#options;
    return (Object.hasOwn(limits, vendor) ? limits[vendor] : limits["default"]) ?? {};
  }
}

/** Milliseconds since 1970 on a monotonic clock: a lane must not stay closed because the wall clock was set back. */
function monotonicNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Converts wall clock times to the monotonic clock. */
function toMonotonic(limits: RateLimits): RateLimits {
  const offsetMs = monotonicNow() - Date.now();
  return limits.map((one) =>
    one.resetAtMs === undefined ? one : { ...one, resetAtMs: one.resetAtMs + offsetMs },
  );
}

/** Returns how long the vendor is closed, as far as it has reported it. */
function getClosedMs(lane: Lane, model: string, nowMs: number): number {
  const ms = lane.getOpenAtMs(model, nowMs) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

/** Estimates the tokens of the request; the cached part is known only after the answer. */
function estimateTokens({ systemPrompt, messages, tools }: Omit<ModelRequest, "model">): number {
  const messageTokens = messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  return (
    messageTokens +
    estimateText(systemPrompt) +
    (tools.length === 0 ? 0 : estimateText(JSON.stringify(tools)))
  );
}

function createWaitError(reason: string, delayMs: number): ProviderError {
  const retryAfterMs = Math.max(1000, Math.ceil(delayMs));
  const message = `${reason}: the next attempt is in ${Math.ceil(retryAfterMs / 1000)} s`;
  return new ProviderError("rate-limited", message, { retryAfterMs });
}

function createCancelledError(vendor: string): ProviderError {
  return new ProviderError("cancelled", `the request to ${vendor} was cancelled`);
}
