import fc from "fast-check";
import { expect, test } from "vitest";
import { formatSuiteDashboard } from "../../../src/core/suite/suite-dashboard.ts";
import {
  countLanes,
  grantBudget,
  shareConcurrency,
  type WorkingPart,
} from "../../../src/core/suite/suite-progress.ts";
import type { SuiteControl } from "../../../src/schema/suite.ts";

const control = (concurrency: number, maxCostUsd: number | null = null): SuiteControl => ({
  state: "running",
  concurrency,
  maxCostUsd,
});

test("the lanes share the whole concurrency, as equally as possible (P2)", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), (concurrency) => {
      const lanes = countLanes(control(concurrency));
      const shares = Array.from({ length: lanes }, (_, lane) => shareConcurrency(control(concurrency), lane));
      expect(lanes).toBe(Math.min(4, concurrency));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(concurrency);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    }),
  );
});

test("a lane that a lower concurrency has made needless keeps one cell at a time (P2)", () => {
  expect([0, 1, 2, 3].map((lane) => shareConcurrency(control(1), lane))).toEqual([1, 1, 1, 1]);
});

const Step = fc.oneof(
  fc.record({ type: fc.constant("start" as const), cells: fc.integer({ min: 1, max: 1000 }) }),
  fc.record({ type: fc.constant("end" as const), used: fc.double({ min: 0, max: 1, noNaN: true }) }),
);

test("what is granted and what was spent never exceeds the budget (P1)", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 1, max: 10_000_000 }),
      fc.integer({ min: 1, max: 100_000 }),
      fc.array(Step, { maxLength: 60 }),
      (concurrency, budgetNano, pending, steps) => {
        const given = control(concurrency, budgetNano / 1e9);
        const limit = Math.floor((budgetNano / 1e9) * 1e9);
        let parts: readonly (WorkingPart & { readonly nanoUsd: number })[] = [];
        let spentNanoUsd = 0;
        for (const [id, step] of steps.entries()) {
          if (step.type === "end") {
            const [first, ...others] = parts;
            spentNanoUsd += Math.floor((first?.nanoUsd ?? 0) * step.used);
            parts = others;
          } else if (parts.length < countLanes(given)) {
            const nanoUsd = grantBudget({ control: given, spentNanoUsd }, step, pending, parts);
            if (nanoUsd === undefined || nanoUsd === null) continue;
            expect(nanoUsd).toBeGreaterThanOrEqual(1);
            parts = [...parts, { id, nanoUsd }];
          }
          const granted = parts.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
          expect(spentNanoUsd + granted).toBeLessThanOrEqual(limit);
        }
      },
    ),
  );
});

test.each([
  ["without a budget there is no limit", { maxCostUsd: null, spent: 0, cells: 1, pending: 1 }, null],
  ["a part alone gets everything", { maxCostUsd: 1, spent: 0, cells: 5, pending: 5 }, 1e9],
  ["two parts get a half each", { maxCostUsd: 1, spent: 0, cells: 5, pending: 10 }, 0.5e9],
  ["nothing is left", { maxCostUsd: 1, spent: 1e9, cells: 5, pending: 5 }, undefined],
  ["an unknown cost leaves nothing", { maxCostUsd: 1, spent: null, cells: 5, pending: 5 }, undefined],
])("a grant: %s", (_, { maxCostUsd, spent, cells, pending }, granted) => {
  const taken = { control: control(8, maxCostUsd), spentNanoUsd: spent };
  expect(grantBudget(taken, { cells }, pending, [])).toBe(granted);
});

test("the dashboard shows the state, the cells, the parts and the cost", () => {
  const progress = { run: "suite-1", ...control(8, 2), pending: 3, finished: 4, failed: 1, parts: 2 };
  expect(formatSuiteDashboard({ ...progress, spentUsd: 0.5 })).toBe(
    [
      "- **Status**: **running**",
      "- **Cells**: 4 finished, 1 failed, 3 pending",
      "- **Working**: 2 parts, 8 cells side by side",
      "- **Cost**: $0.5000 of $2.0000",
      "",
      "`holdfast eval status suite-1` shows the scores.",
    ].join("\n"),
  );
  expect(formatSuiteDashboard({ ...progress, maxCostUsd: null, spentUsd: null })).toContain("**Cost**: —\n");
});
