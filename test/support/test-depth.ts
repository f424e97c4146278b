import { test } from "vitest";

// How deep a run of the tests goes: `npm test` tries everything shortly, `npm run test:all` (vitest's mode `all`) tries all.

/** Runs of a property from each of its two seeds where nothing asks for more. */
export const QUICK_RUNS = 30;

export const isThorough = process.env["HOLDFAST_TESTS"] === "all";

/** A test of `npm run test:all` alone: `npm test` has a quicker one of the same feature. */
export const thoroughTest = isThorough ? test : test.skip;

/** How often a property is tried: FC_RUNS times where that is set, as `npm run test:all` does; otherwise a few times. */
export function getRunCount(maxRuns: number): number {
  const asked = process.env["FC_RUNS"];
  return asked === undefined ? Math.min(maxRuns, 2 * QUICK_RUNS) : Number(asked);
}
