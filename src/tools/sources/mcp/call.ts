import type { Ask, Progress, Sample } from "./connection.ts";

export type CallOptions = {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Who answers what the server asks a person while this call runs; without one it is declined. */
  readonly ask?: Ask | undefined;
  /** Who answers what it asks a model, where the definition allows it. */
  readonly sample?: Sample | undefined;
};

export type Called = {
  /** As it came: see `result.ts`. */
  readonly result: unknown;
  /** What the server wanted meanwhile and did not get, a sentence each. */
  readonly notes: readonly string[];
};
