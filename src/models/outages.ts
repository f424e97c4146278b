import type { ModelConfig } from "../schema/model.ts";
import type { ProviderError, ProviderFault } from "./provider-error.ts";
import { isServerFault } from "./provider-error-from-response.ts";

/** A model that was found down is left alone for so long; twice as long each time, up to the last. */
const FIRST_OUTAGE_MS = 60_000;
const MAX_OUTAGE_MS = 600_000;

/** Who tries a model again has so long before another may. */
const TRIAL_MS = 60_000;

/** Of models that nobody has asked for since. */
const EXPIRY_MS = 3_600_000;

type Outage = {
  readonly times: number;
  untilMs: number;
  readonly fault: ProviderFault;
  readonly said: string;
};

/** What a worker remembers of a model that could not answer. */
export type KnownOutage = {
  readonly fault: ProviderFault;
  readonly said: string;
  readonly againInMs: number;
};

export type Candidate = {
  readonly model: ModelConfig;
  /** It is asked after those of which nothing bad is known. */
  readonly down?: KnownOutage;
  /** It was found down, and nobody knows what it is now: one failure is enough. */
  readonly isTrial: boolean;
};

/**
 * The models that this worker has found down, so that a turn begins with one that works. Each is tried again after a
 * while, by one who asks at a time; an answer of it, or a word on the question, makes it forgotten.
 */
export class Outages {
  readonly #now: () => number;
  readonly #outages = new Map<string, Outage>();

  /** @param now - Milliseconds of a clock that nobody sets. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** All of them, in the order in which to ask: as they are given, but for those that are known to be down. */
  order(models: readonly ModelConfig[]): readonly Candidate[] {
    const nowMs = this.#now();
    const all = models.map((model): Candidate => {
      const outage = this.#outages.get(toModelKey(model));
      if (outage === undefined) return { model, isTrial: false };
      const { fault, said: message, untilMs } = outage;
      const retryInMs = untilMs - nowMs;
      return retryInMs <= 0
        ? { model, isTrial: true }
        : { model, isTrial: true, down: { fault, said: message, againInMs: retryInMs } };
    });
    if (all.every(({ down: outage }) => outage !== undefined)) return all;
    return [
      ...all.filter(({ down: outage }) => outage === undefined),
      ...all.filter(({ down: outage }) => outage !== undefined),
    ];
  }

  /** It is about to be asked: others who ask meanwhile do not wait to see it fail. */
  recordAttempt(model: ModelConfig): void {
    const outage = this.#outages.get(toModelKey(model));
    const nowMs = this.#now();
    if (outage !== undefined && outage.untilMs <= nowMs) outage.untilMs = nowMs + TRIAL_MS;
  }

  recordSuccess(model: ModelConfig): void {
    this.#outages.delete(toModelKey(model));
  }

  /** What it failed with says whether it is down, or was there and did not like the question. */
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
    const failures = (this.#outages.get(name)?.times ?? 0) + 1;
    const { fault, message, retryAfterMs = 0 } = error;
    const durationMs = Math.min(MAX_OUTAGE_MS, Math.max(FIRST_OUTAGE_MS * 2 ** (failures - 1), retryAfterMs));
    this.#outages.set(name, { times: failures, untilMs: nowMs + durationMs, fault, said: message });
  }
}

/** Whether another model may do what this one could not. */
export function isOutage(error: ProviderError): boolean {
  switch (error.fault) {
    case "rate-limited":
    case "network":
    case "auth":
      return true;
    case "api":
      // 402: it wants to be paid first.
      return isServerFault(error) || error.status === 402;
    default:
      return false;
  }
}

/** By where it is asked and with which key's name: never with a key. */
function toModelKey({ api, baseUrl, id, apiKey, headers, serviceTier }: ModelConfig): string {
  return JSON.stringify([api, baseUrl, id, apiKey, headers, serviceTier]);
}
