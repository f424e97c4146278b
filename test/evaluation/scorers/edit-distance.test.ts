import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  computeEditDistance,
  MAX_COMPARED_CHARS,
  scoreEditDistance,
} from "../../../src/evaluation/scorers/edit-distance.ts";
import { anyGrapheme } from "../../support/any-grapheme.ts";
import { createSubject, parseScorer } from "./subject.ts";

const score = (answer: string, expected?: unknown, fields: object = {}) =>
  scoreEditDistance(parseScorer({ type: "edit-distance", ...fields }), createSubject({ answer, expected }));

/** The definition itself, one cell after the other. */
function computeByTable(one: readonly string[], other: readonly string[]): number {
  let previous = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [row, character] of one.entries()) {
    const current = [row + 1];
    for (const [column, wanted] of other.entries()) {
      const replaced = (previous[column] as number) + (character === wanted ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] as number) + 1, (current[column] as number) + 1));
    }
    previous = current;
  }
  return previous.at(-1) as number;
}

const text = (maxLength: number) =>
  fc.array(fc.constantFrom("a", "b", "c", "😀"), { maxLength, size: "max" });

describe("the edit distance", () => {
  test("is that of the definition, also for texts of several blocks", () => {
    fc.assert(
      fc.property(text(150), text(150), (one, other) => {
        expect(computeEditDistance(one, other)).toBe(computeByTable(one, other));
      }),
    );
  });

  test("is that of the definition for one text with a few changes", () => {
    fc.assert(
      fc.property(text(100), fc.array(fc.nat(99), { maxLength: 5 }), (one, positions) => {
        const other = one.filter((_, at) => !positions.includes(at));
        expect(computeEditDistance(one, other)).toBe(one.length - other.length);
      }),
    );
  });

  test("is symmetric", () => {
    fc.assert(
      fc.property(text(80), text(80), (one, other) => {
        expect(computeEditDistance(one, other)).toBe(computeEditDistance(other, one));
      }),
    );
  });

  test("of the longest texts takes a moment", () => {
    const one = Array.from({ length: MAX_COMPARED_CHARS }, (_, at) => String.fromCharCode(97 + (at % 7)));
    const other = Array.from({ length: MAX_COMPARED_CHARS }, (_, at) => String.fromCharCode(97 + (at % 11)));
    const begun = performance.now();
    computeEditDistance(one, other);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

describe("edit-distance", () => {
  test("is between 0 and 1, and 1 only for equal texts", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyGrapheme }), fc.string({ unit: anyGrapheme }), (answer, expected) => {
        const { value } = score(answer, expected, { trim: false });
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        expect(value === 1).toBe(answer === expected);
      }),
    );
  });

  test("counts code points, and takes the nearest of several texts", () => {
    expect(score("😀a", "😀b")).toEqual({ class: "scored", value: 0.5 });
    expect(score("cat", ["dog", "cut"]).value).toBeCloseTo(2 / 3);
    expect(score("CAT ", "cat", { ignoreCase: true }).value).toBe(1);
    expect(score("", "").value).toBe(1);
  });

  test("does not compare without an expected text, or texts that are too long", () => {
    expect(score("a")).toMatchObject({ class: "unscorable", value: null });
    expect(score("a".repeat(MAX_COMPARED_CHARS + 1), "a")).toMatchObject({ class: "unscorable" });
    expect(score("😀".repeat(MAX_COMPARED_CHARS), "a").class).toBe("scored");
  });
});
