/** What a vendor counts. */
export type LimitUnit = "requests" | "tokens" | "inputTokens" | "outputTokens";

/** One allowance of a vendor, as reported in the headers of an answer. */
export type RateLimit = {
  /** The vendor's own name, such as `requests` or `tokens-day`: there may be several for one unit. */
  readonly name: string;
  /** What it counts. */
  readonly unit: LimitUnit;
  /** How many there are until it is renewed. */
  readonly limit?: number | undefined;
  /** How many are left. */
  readonly remaining?: number | undefined;
  /** Unix milliseconds: when the allowance is renewed. */
  readonly resetAtMs?: number | undefined;
};

/** All allowances in one answer. */
export type RateLimits = readonly RateLimit[];
