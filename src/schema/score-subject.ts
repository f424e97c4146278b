/** A tool call that a cell has made. */
export type ScoredCall = {
  /** The name of the tool. */
  readonly name: string;
  /** The arguments that the model sent; the raw text when they were not JSON. */
  readonly arguments: unknown;
};

/** What a cell has come to, and what was expected of it. */
export type ScoreSubject = {
  /** The text of the last answer; empty if there is none. */
  readonly answer: string;
  /** `expected` of the case; `undefined` if it has none. */
  readonly expected: unknown;
  /** `metadata` of the case. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The tool calls, in their order. */
  readonly calls: readonly ScoredCall[];
  /** `null` if a price is unknown. */
  readonly costUsd: number | null;
  /** The turns of the cell. */
  readonly turns: number;
  /** The time of the cell, in milliseconds. */
  readonly durationMs: number;
};
