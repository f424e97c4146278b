import { expect, test } from "vitest";
import { Scorer } from "../../src/schema/scorer.ts";
import type { SuiteScorerInput } from "../../src/schema/suite-scorer.ts";
import { digestScorer } from "../../src/store/transcript/digest-scorer.ts";

const digest = (scorer: SuiteScorerInput | object) => digestScorer(Scorer.parse(scorer));

test("the digest of a scorer is the same in every release, because stored scores are found by it", () => {
  expect(digest({ type: "turns", max: 3 })).toBe(
    "d1bb14a8d8d3e575742362434b49ecbd541ac37f5aef259edf254b2a4a41c4e8",
  );
});

test("neither the name of the scores nor the order of fields is part of it", () => {
  expect(digest({ type: "exact", name: "a", ignoreCase: true })).toBe(
    digest({ ignoreCase: true, trim: true, type: "exact" }),
  );
});

test("everything else is", () => {
  const judge = { type: "judge", rubric: [{ id: "a", description: "Is right" }], judge: "hash" };
  const custom = { type: "custom", name: "mine", version: "1", settings: { a: 1 } };
  const scorers = [
    { type: "exact" },
    { type: "exact", expected: "a" },
    { type: "cost" },
    { type: "cost", max: 1 },
    judge,
    { ...judge, judge: "other" },
    { ...judge, instructions: "Be strict." },
    { ...judge, rubric: [{ id: "a", description: "Is right", points: 2 }] },
    custom,
    { ...custom, name: "other" },
    { ...custom, version: "2" },
    { ...custom, settings: { a: 2 } },
  ];
  expect(new Set(scorers.map(digest)).size).toBe(scorers.length);
});
