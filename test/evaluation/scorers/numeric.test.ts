import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findNumber, scoreNumeric } from "../../../src/evaluation/scorers/numeric.ts";
import { createSubject, parseScorer } from "./subject.ts";

const numeric = (fields: object, answer: string, expected?: unknown) =>
  scoreNumeric(parseScorer({ type: "numeric", ...fields }), createSubject({ answer, expected }));

describe("finding a number", () => {
  test.each([
    ["It is 42.", 42],
    ["-1.5", -1.5],
    ["−3", -3],
    ["1,234,567.5 dollars", 1234567.5],
    ["1,2345", 2345],
    [".5", 0.5],
    ["6.02e23", 6.02e23],
    ["10-3", 3],
    ["10 - 3", 3],
    ["x = -3", -3],
    ["$5", 5],
    ["#### 18", 18],
    ["\\boxed{7}", 7],
    ["7kg", 7],
    ["12 of H2O", 12],
    ["8 in v1.2.3", 8],
    ["none", undefined],
    ["9".repeat(400), undefined],
    ["1. 2. 3.", 3],
  ])("in %j", (text, number) => {
    expect(findNumber(text, "last")).toBe(number);
  });

  test("of two, the one that is asked for", () => {
    expect([findNumber("3 of 4", "first"), findNumber("3 of 4", "last")]).toEqual([3, 4]);
  });

  test("finds every number as JavaScript prints it", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(findNumber(`It is ${number} or so`, "last")).toBe(number === 0 ? 0 : number);
      }),
    );
  });

  test("takes linear time", () => {
    const long = "1,234".repeat(200_000);
    const begun = performance.now();
    findNumber(long, "last");
    findNumber("-".repeat(1_000_000), "last");
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

describe("numeric", () => {
  test.each([
    [{}, "42", 42, 1],
    [{}, "41", 42, 0],
    [{}, "42", "42.0", 1],
    [{}, "2", [1, 2], 1],
    [{ tolerance: 0.5 }, "42.5", 42, 1],
    [{ tolerance: 0.5 }, "42.6", 42, 0],
    [{ relativeTolerance: 0.1 }, "110", 100, 1],
    [{ relativeTolerance: 0.1 }, "-110", -100, 1],
    [{ relativeTolerance: 0.1, tolerance: 20 }, "119", 100, 1],
    [{ expected: 3 }, "3", 4, 1],
    [{ take: "first" }, "3 apples, 4 pears", 3, 1],
    [{}, "no idea", 3, 0],
  ])("%j scores %j against %j with %d", (fields, answer, expected, value) => {
    expect(numeric(fields, answer, expected)).toMatchObject({ class: "scored", value, passed: value === 1 });
  });

  test.each([undefined, "", "many", {}, [1, "x"]])("cannot score against %j", (expected) => {
    expect(numeric({}, "1", expected)).toMatchObject({ class: "unscorable", value: null });
  });
});
