import { ProviderError } from "./provider-error.ts";
import type { Vendor } from "./provider-error-from-response.ts";

/**
 * Of one answer, in UTF-8: text, thinking, signatures and calls, without the wire around them. Some sixteen times what
 * the longest answers of models have today.
 */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Of one answer. Each goes through a run's history with what a policy must know of it; models make a few dozen. */
const MAX_CALLS = 256;

/** What a block takes beside what it holds, so that an answer of ten thousand empty calls is too large as well. */
const BLOCK_OVERHEAD_BYTES = 1024;

/** Counts what is kept of an answer while it arrives. */
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

  /** Throws a `ProviderError` when there are too many. */
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

/** The same question would bring as much again: it is not a fault that passes. */
export function createTooLargeError(vendor: Vendor, found: string, limit: number): ProviderError {
  const advice = "a smaller maxTokens ends an answer earlier";
  return new ProviderError(
    "api",
    `${vendor.name}: ${found} when it was broken off, and at most ${limit} are taken; ${advice}`,
  );
}
