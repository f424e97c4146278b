import type { Elicit, Progress, Sample } from "./mcp-connection.ts";

export type ToolCallOptions = {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Who answers what the server asks a person while this call runs; without one it is declined. */
  readonly ask?: Elicit | undefined;
  /** Who answers what it asks a model, where the definition allows it. */
  readonly sample?: Sample | undefined;
};

export type ToolCallResult = {
  /** As it came: see `result.ts`. */
  readonly result: unknown;
  /** What the server wanted meanwhile and did not get, a sentence each. */
  readonly notes: readonly string[];
};
