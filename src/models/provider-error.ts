/**
 * The kind of a failure between Holdfast and a vendor (RTY-07). Only `rate-limited` and `network` may be retried;
 * an `overflow` never fits without changes.
 */
export type ProviderFault = "api" | "network" | "auth" | "rate-limited" | "overflow" | "cancelled" | "other";

/** What is known about a failed request. */
export type ProviderErrorFacts = {
  /** The HTTP status. */
  readonly status?: number | undefined;
  /** The vendor's id of the request, for its support. */
  readonly requestId?: string | undefined;
  /** The delay that the vendor requested, used exactly (RTY-04), up to a week. */
  readonly retryAfterMs?: number | undefined;
  /** The vendor's own type of the error, such as `overloaded_error`. */
  readonly vendorType?: string | undefined;
  /** What was thrown, for logs. */
  readonly cause?: unknown;
};

/** A longer delay is not a real limit: a clock or a proxy is wrong. */
const MAX_RETRY_AFTER_MS = 7 * 24 * 3_600_000;

/** The only error that an adapter throws. The message quotes the vendor, limited in length and without secrets. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** What went wrong: decides whether the request is repeated. */
  readonly fault: ProviderFault;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** The vendor's id of the request. */
  readonly requestId: string | undefined;
  /** The delay that the vendor asks for, in milliseconds; at most seven days. */
  readonly retryAfterMs: number | undefined;
  /** The vendor's own type of the error, such as `overloaded_error`. */
  readonly vendorType: string | undefined;

  /** Creates an error. An invalid `retryAfterMs` is ignored. */
  constructor(fault: ProviderFault, message: string, facts: ProviderErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.fault = fault;
    this.status = facts.status;
    this.requestId = facts.requestId;
    const { retryAfterMs } = facts;
    // A custom provider may pass an invalid number; it is ignored.
    this.retryAfterMs =
      retryAfterMs === undefined || Number.isNaN(retryAfterMs) || retryAfterMs < 0
        ? undefined
        : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
    this.vendorType = facts.vendorType;
  }
}
