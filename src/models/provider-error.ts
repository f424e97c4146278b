/**
 * What went wrong between us and a vendor (RTY-07). Only `rate-limited` and `network` may be asked again;
 * an `overflow` never fits as it is.
 */
export type ProviderFault = "api" | "network" | "auth" | "rate-limited" | "overflow" | "cancelled" | "other";

export type ProviderErrorFacts = {
  readonly status?: number | undefined;
  /** The vendor's id of the request, for its support. */
  readonly requestId?: string | undefined;
  /** The delay that the vendor asked for, used exactly (RTY-04), up to a week. */
  readonly retryAfterMs?: number | undefined;
  /** The vendor's own word for the error, such as `overloaded_error`. */
  readonly vendorType?: string | undefined;
  readonly cause?: unknown;
};

/** Longer is nobody's limit: an outage of the clock, or of whoever stands in between. */
const MAX_RETRY_AFTER_MS = 7 * 24 * 3_600_000;

/** Thrown by an adapter, and by nothing else. The message holds the vendor's own words, bounded, without secrets. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly fault: ProviderFault;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly vendorType: string | undefined;

  constructor(fault: ProviderFault, message: string, facts: ProviderErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.fault = fault;
    this.status = facts.status;
    this.requestId = facts.requestId;
    const { retryAfterMs } = facts;
    // What is no time at all, as a custom provider may hand over, is none that was named.
    this.retryAfterMs =
      retryAfterMs === undefined || Number.isNaN(retryAfterMs) || retryAfterMs < 0
        ? undefined
        : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
    this.vendorType = facts.vendorType;
  }
}
