import { assertProbability } from "./arguments.ts";

/** A range of numbers, both ends included. */
export type Interval = {
  /** The lower end. */
  readonly low: number;
  /** The upper end. */
  readonly high: number;
};

/** The share of repeated experiments whose interval contains the true value. */
export const DEFAULT_CONFIDENCE = 0.95;

/** Returns the probability that lies above the interval, which is as large as the one below it. */
export function computeTail(confidence: number): number {
  assertProbability("The confidence", confidence);
  return (1 - confidence) / 2;
}
