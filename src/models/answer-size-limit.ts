import { ProviderError } from "./provider-error.ts";
import type { Vendor } from "./provider-error-from-response.ts";

/**
 * The limit for one answer, in UTF-8: text, thinking, signatures and calls, without the wire format. About sixteen times
 * the size of the longest answers that models currently give.
 */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** The limit for one answer. Each call is recorded in a run's history with its policy facts; models make a few dozen. */
const MAX_CALLS = 256;

/** The overhead of a block, so that an answer with ten thousand empty calls is too large as well. */
const BLOCK_OVERHEAD_BYTES = 1024;

/** Counts the stored parts of an answer while it arrives. */
export class AnswerSizeLimit {
  readonly #vendor: Vendor;
  #bytes = 0;
  #calls = 0;

  constructor(vendor: Vendor) {
    this.#vendor = vendor;
  }

  /** Throws a `ProviderError` when the answer has become too large. */
  add(...texts: readonly string[]): void {
    for (const text of texts) this.#bytes += Buffer.byteLength(text, "utf8");
    if (this.#bytes <= MAX_ANSWER_BYTES) return;
    throw createTooLargeError(this.#vendor, `its answer had ${this.#bytes} bytes`, MAX_ANSWER_BYTES);
  }

  /** Throws a `ProviderError` when there are too many calls. */
  addCall(): void {
    this.#calls += 1;
    if (this.#calls > MAX_CALLS)
      throw createTooLargeError(this.#vendor, `its answer had ${this.#calls} calls`, MAX_CALLS);
  }

  addBlock(...texts: readonly string[]): void {
    this.#bytes += BLOCK_OVERHEAD_BYTES;
    this.add(...texts);
  }
}

/** Creates the error. It is not transient: the same request would produce an answer of the same size. */
export function createTooLargeError(vendor: Vendor, found: string, limit: number): ProviderError {
  const advice = "a smaller maxTokens ends an answer earlier";
  return new ProviderError(
    "api",
    `${vendor.name}: ${found} when Holdfast ended it, and the limit is ${limit}; ${advice}`,
  );
}
