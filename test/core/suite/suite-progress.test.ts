import fc from "fast-check";
import { expect, test } from "vitest";
import {
  countLanes,
  grantBudget,
  shareConcurrency,
  type WorkingPart,
} from "../../../src/core/suite/suite-progress.ts";

const control = (concurrency: number, maxCostUsd: number | null = null) =>
  ({ state: "running", concurrency, maxCostUsd }) as const;

test("the lanes share the concurrency of the run, and each has at least one cell", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), (concurrency) => {
      const asked = control(concurrency);
      const shares = Array.from({ length: countLanes(asked) }, (_, lane) => shareConcurrency(asked, lane));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(concurrency);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
    }),
  );
});

test("what was spent and what working parts are granted never exceeds the budget", () => {
  const step = fc.record({
    begins: fc.boolean(),
    spends: fc.double({ min: 0, max: 1, noNaN: true }),
    cells: fc.integer({ min: 1, max: 1000 }),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 40 }),
      fc.array(step, { maxLength: 60 }),
      (cents, concurrency, steps) => {
        const asked = control(concurrency, cents / 100);
        let spentNanoUsd = 0;
        let parts: readonly WorkingPart[] = [];
        for (const [id, { begins, spends, cells }] of steps.entries()) {
          const [first, ...others] = parts;
          if (first !== undefined && (!begins || parts.length >= countLanes(asked))) {
            spentNanoUsd += Math.floor((first.nanoUsd ?? 0) * spends);
            parts = others;
          } else {
            const nanoUsd = grantBudget({ control: asked, spentNanoUsd }, { cells }, cells * 3, parts);
            if (nanoUsd !== undefined) parts = [...parts, { id, nanoUsd }];
          }
          const granted = parts.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
          expect(spentNanoUsd + granted).toBeLessThanOrEqual(cents * 1e7);
        }
      },
    ),
  );
});

test("a part alone, for all that is pending, is granted everything that is left", () => {
  const taken = { control: control(4, 1), spentNanoUsd: 250_000_000 };
  expect(grantBudget(taken, { cells: 10 }, 10, [])).toBe(750_000_000);
});

test.each([
  ["no budget", null, 5, null],
  ["nothing left", 1, 1e9, undefined],
  ["an unknown price", 1, null, undefined],
] as const)("with %s, the grant follows", (_, maxCostUsd, spentNanoUsd, grant) => {
  expect(grantBudget({ control: control(4, maxCostUsd), spentNanoUsd }, { cells: 1 }, 1, [])).toBe(grant);
});
