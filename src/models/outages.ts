import { computePauseMs } from "../platform/async/back-off.ts";
import type { ModelConfig } from "../schema/model.ts";
import type { ProviderError, ProviderFault } from "./provider-error.ts";
import { isServerFault } from "./provider-error-from-response.ts";

/** A model that is down is not called for this long; the time doubles with each failure, up to the maximum. */
const BACK_OFF = { firstMs: 60_000, longestMs: 600_000 };

/** During a trial of a model, no other request tries it for this long. */
const TRIAL_MS = 60_000;

/** Records of models that were not called for this long are dropped. */
const EXPIRY_MS = 3_600_000;

type Outage = {
  readonly failures: number;
  untilMs: number;
  readonly fault: ProviderFault;
  readonly message: string;
};

/** A recorded outage of a model. */
export type KnownOutage = {
  readonly fault: ProviderFault;
  readonly message: string;
  readonly retryInMs: number;
};

export type Candidate = {
  readonly model: ModelConfig;
  /** The model is known to be down, so it comes after the others. */
  readonly outage?: KnownOutage;
  /** The model was down, and its state is unknown: one failure is enough. */
  readonly isTrial: boolean;
};

/**
 * Records which models this worker has found down, so that a turn starts with a working one. Each is retried after a
 * while, by one request at a time. An answer, or an error about the request itself, clears the record.
 */
export class Outages {
  readonly #now: () => number;
  readonly #outages = new Map<string, Outage>();

  /** @param now - Milliseconds on a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns all models in the order in which to call them: as given, but those that are known to be down come last. */
  order(models: readonly ModelConfig[]): readonly Candidate[] {
    const nowMs = this.#now();
    const all = models.map((model): Candidate => {
      const outage = this.#outages.get(toModelKey(model));
      if (outage === undefined) return { model, isTrial: false };
      const { fault, message, untilMs } = outage;
      const retryInMs = untilMs - nowMs;
      return retryInMs <= 0
        ? { model, isTrial: true }
        : { model, isTrial: true, outage: { fault, message, retryInMs } };
    });
    if (all.every(({ outage }) => outage !== undefined)) return all;
    return [
      ...all.filter(({ outage }) => outage === undefined),
      ...all.filter(({ outage }) => outage !== undefined),
    ];
  }

  /** The model is about to be called: other requests do not wait to see it fail. */
  recordAttempt(model: ModelConfig): void {
    const outage = this.#outages.get(toModelKey(model));
    const nowMs = this.#now();
    if (outage !== undefined && outage.untilMs <= nowMs) outage.untilMs = nowMs + TRIAL_MS;
  }

  recordSuccess(model: ModelConfig): void {
    this.#outages.delete(toModelKey(model));
  }

  /** The error tells whether the model is down, or was available and rejected the request. */
  recordFailure(model: ModelConfig, error: ProviderError): void {
    const name = toModelKey(model);
    if (!isOutage(error)) {
      if (error.status !== undefined) this.#outages.delete(name);
      return;
    }
    const nowMs = this.#now();
    for (const [other, { untilMs }] of this.#outages) {
      if (untilMs + EXPIRY_MS < nowMs) this.#outages.delete(other);
    }
    const failures = (this.#outages.get(name)?.failures ?? 0) + 1;
    const { fault, message, retryAfterMs = 0 } = error;
    const durationMs = Math.min(
      Math.max(computePauseMs(BACK_OFF, failures), retryAfterMs),
      BACK_OFF.longestMs,
    );
    this.#outages.set(name, { failures, untilMs: nowMs + durationMs, fault, message });
  }
}

/** Returns whether another model may succeed where this one failed. */
export function isOutage(error: ProviderError): boolean {
  switch (error.fault) {
    case "rate-limited":
    case "network":
    case "auth":
      return true;
    case "api":
      // 402: the account must be paid first.
      return isServerFault(error) || error.status === 402;
    default:
      return false;
  }
}

/** The key consists of the address and the name of the secret, never of the secret itself. */
function toModelKey({ api, baseUrl, id, apiKey, headers, serviceTier }: ModelConfig): string {
  return JSON.stringify([api, baseUrl, id, apiKey, headers, serviceTier]);
}
