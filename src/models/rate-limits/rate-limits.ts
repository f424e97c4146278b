/** What a vendor counts. */
export type LimitUnit = "requests" | "tokens" | "inputTokens" | "outputTokens";

/** One of the allowances that a vendor keeps, as the head of an answer tells it. */
export type RateLimit = {
  /** Its own word, such as `requests` or `tokens-day`: one vendor may keep several of what is counted. */
  readonly name: string;
  readonly counted: LimitUnit;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  /** Unix milliseconds: when there is more again. */
  readonly resetAtMs?: number | undefined;
};

/** All that one answer says of them. */
export type RateLimits = readonly RateLimit[];
