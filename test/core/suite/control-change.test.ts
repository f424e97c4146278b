import { expect, test } from "vitest";
import { readControlChange } from "../../../src/core/suite/control-change.ts";
import { MAX_CONCURRENCY, SuiteControl } from "../../../src/schema/suite.ts";

test("each valid field is read, and `null` removes the budget", () => {
  const change = { state: "paused", concurrency: 3, maxCostUsd: 0.5 };
  expect(readControlChange(change)).toEqual(change);
  expect(readControlChange({ maxCostUsd: null })).toEqual({ maxCostUsd: null });
  expect(readControlChange({ concurrency: 1 })).toEqual({ concurrency: 1 });
});

test.each([
  undefined,
  null,
  "paused",
  7,
  [],
  { state: "planning" },
  { state: "toString" },
  { concurrency: 0 },
  { concurrency: -1 },
  { concurrency: 1.5 },
  { concurrency: "4" },
  { concurrency: null },
  { maxCostUsd: 0 },
  { maxCostUsd: -1 },
  { maxCostUsd: "1" },
  { other: 1 },
])("%j changes nothing", (given) => {
  expect(readControlChange(given)).toEqual({});
});

const ANY_VALUES = [
  ...[undefined, null, true, "", "running", "paused", "stopping", "planning", "4", [], {}],
  ...[
    -1,
    0,
    0.5,
    1,
    1.5,
    7,
    MAX_CONCURRENCY,
    MAX_CONCURRENCY + 1,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ],
];

test.each(["state", "concurrency", "maxCostUsd"] as const)("%s takes the values of the schema", (field) => {
  for (const value of ANY_VALUES) {
    const isValid = SuiteControl.shape[field].safeParse(value).success;
    expect(readControlChange({ [field]: value }), String(value)).toEqual(isValid ? { [field]: value } : {});
  }
});

test("an invalid field does not discard the others", () => {
  expect(readControlChange({ state: "running", concurrency: 0 })).toEqual({ state: "running" });
});
