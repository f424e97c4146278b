import { expect, test } from "vitest";
import * as statistics from "../../../src/evaluation/statistics/index.ts";

// The small form of `npm run interval-coverage`, which publishes the figures of docs/numbers.md.

const SCRIPT = new URL("../../../scripts/coverage-simulation.mjs", import.meta.url).href;

type Settings = {
  readonly interval: "wilson" | "t" | "bca" | "clustered";
  readonly n: number;
  readonly suites: number;
  readonly seed: number;
  readonly resamples?: number;
};

const { simulateCoverage } = (await import(/* @vite-ignore */ SCRIPT)) as {
  simulateCoverage(module: typeof statistics, settings: Settings): number;
};

const SEED = 20_261_128;

test.each([20, 50, 164])(
  "Wilson's interval and the t interval of %i values contain 95 %% of the means",
  (n) => {
    for (const interval of ["wilson", "t"] as const) {
      const coverage = simulateCoverage(statistics, { interval, n, suites: 2000, seed: SEED });
      expect([interval, coverage > 0.935 && coverage < 0.965]).toEqual([interval, true]);
    }
  },
);

test("the bootstrap and the clustered interval of normal values contain about as many", () => {
  for (const interval of ["bca", "clustered"] as const) {
    const settings = { interval, n: 50, suites: 200, seed: SEED, resamples: 200 };
    expect(simulateCoverage(statistics, settings)).toBeGreaterThan(0.9);
    expect(simulateCoverage(statistics, settings)).toBeLessThan(0.99);
  }
});
