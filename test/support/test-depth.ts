import { describeIf, testIf } from "./skipping.ts";

// The depth of a test run: `npm test` tests every feature briefly, `npm run test:all` (vitest's mode `all`) runs all tests.

/** The default number of runs of a property with each of its two seeds. */
export const QUICK_RUNS = 30;

export const isThorough = process.env["HOLDFAST_TESTS"] === "all";

const THOROUGH = "thorough: npm run test:all runs them";

/** A test that only `npm run test:all` runs; `npm test` has a quicker one of the same feature. */
export const thoroughTest = testIf(isThorough, THOROUGH);

/** A `describe` whose tests only `npm run test:all` runs. */
export const thoroughDescribe = describeIf(isThorough, THOROUGH);

/** Returns the number of runs of a property: FC_RUNS if it is set, as by `npm run test:all`; otherwise a few. */
export function getRunCount(maxRuns: number): number {
  const asked = process.env["FC_RUNS"];
  return asked === undefined ? Math.min(maxRuns, 2 * QUICK_RUNS) : Number(asked);
}
