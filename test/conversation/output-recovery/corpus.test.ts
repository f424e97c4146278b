import { describe, expect, test } from "vitest";
import { ARTIFACT_TYPES } from "../../../src/apps/git/artifacts/artifact-types.ts";
import { buildCorpus, MUTATORS } from "./corpus.ts";
import { judge } from "./judge.ts";

const corpus = buildCorpus(1, 3);

describe("the corpus of malformed outputs", () => {
  test("has at least 1,000 outputs of the eight types, spoilt by every mutator", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(1000);
    expect(new Set(corpus.map(({ type }) => type)).size).toBe(8);
    const faults = new Set(corpus.map(({ fault }) => fault));
    expect(MUTATORS.map(({ name }) => name).filter((name) => !faults.has(name))).toEqual([]);
  });

  test("is the same for the same seed, and another for another", () => {
    expect(buildCorpus(1, 1)).toEqual(buildCorpus(1, 1));
    expect(buildCorpus(2, 1).map(({ text }) => text)).not.toEqual(buildCorpus(1, 1).map(({ text }) => text));
  });

  test("grows from values that match their schemas", () => {
    const invalid = corpus.filter(({ type, original }) => {
      const parsed = ARTIFACT_TYPES[type].safeParse(original);
      return !parsed.success || JSON.stringify(parsed.data) !== JSON.stringify(original);
    });
    expect(invalid).toEqual([]);
  });
});

test("the judge accepts the original, parts of it where a part is missing, and nothing where it cannot be known", () => {
  const schema = {
    properties: { a: { type: "string" }, b: { default: 3 }, c: { items: { type: "number" } } },
  };
  const spoilt = (loss: "none" | "part" | "essential") => ({
    type: "Review" as const,
    fault: "",
    text: "",
    schema,
    loss,
    original: { a: "text", b: 4, c: [1, 2] },
  });
  expect(judge(spoilt("none"), { a: "text", b: 4, c: [1, 2] })).toBe("recovered");
  expect(judge(spoilt("none"), { a: "text", b: 3, c: [1, 2] })).toBe("wrong");
  expect(judge(spoilt("none"), undefined)).toBe("refused");
  expect(judge(spoilt("part"), { a: "te", b: 3, c: [1] })).toBe("recovered");
  expect(judge(spoilt("part"), { a: "te", b: 5, c: [1] })).toBe("wrong");
  expect(judge(spoilt("part"), { a: "text", b: 4, c: [2] })).toBe("wrong");
  expect(judge(spoilt("essential"), { a: "text", b: 4, c: [1, 2] })).toBe("wrong");
});
