import { describe, type TestAPI, test } from "vitest";
import { createTaskCollector, getCurrentSuite } from "vitest/suite";

// A test that does not run says why. The reasons are counted at the end of a run (see report-skips.ts).

declare module "vitest" {
  interface TaskMeta {
    skipReason?: string;
  }
}

/** Why tests of what other processes see are skipped. */
export const NO_PROC = "this system has no /proc";

type DeclareSuite = (name: string, declareTests: () => void) => void;

/**
 * Returns `test` if the condition holds, and otherwise a function that declares skipped tests.
 *
 * @param reason - What is missing, for the list at the end of a run.
 */
export function testIf(condition: boolean, reason: string): TestAPI {
  if (condition) return test;
  return createTaskCollector(function (this: object, name: string) {
    getCurrentSuite().task(name, { ...this, skip: true, meta: { skipReason: reason } });
  });
}

/** Like `testIf`, for all tests of a `describe`. */
export function describeIf(condition: boolean, reason: string): DeclareSuite {
  if (condition) return describe;
  return (name, declareTests) =>
    describe.skip(name, () => {
      const { suite } = getCurrentSuite();
      if (suite !== undefined) suite.meta.skipReason = reason;
      declareTests();
    });
}
