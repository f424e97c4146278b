import { describe, expect, test } from "vitest";
import { scoreExact } from "../../../src/evaluation/scorers/exact.ts";
import { scoreIncludes } from "../../../src/evaluation/scorers/includes.ts";
import { MAX_MATCHED_CHARS, scoreRegex } from "../../../src/evaluation/scorers/regex.ts";
import { createSubject, parseScorer } from "./subject.ts";

const exact = (fields: object, answer: string, expected?: unknown) =>
  scoreExact(parseScorer({ type: "exact", ...fields }), createSubject({ answer, expected }));
const includes = (fields: object, answer: string, expected?: unknown) =>
  scoreIncludes(parseScorer({ type: "includes", ...fields }), createSubject({ answer, expected }));
const regex = (fields: object, answer: string, expected?: unknown) =>
  scoreRegex(parseScorer({ type: "regex", ...fields }), createSubject({ answer, expected }));

describe("exact", () => {
  test.each([
    [{}, " Paris\n", "Paris", 1],
    [{}, "paris", "Paris", 0],
    [{ ignoreCase: true }, "paris", "Paris", 1],
    [{ trim: false }, "Paris\n", "Paris", 0],
    [{}, "B", ["A", "B"], 1],
    [{}, "42", 42, 1],
    [{}, "42.0", 42, 0],
    [{}, "true", true, 1],
    [{}, "", "", 1],
    [{ expected: "London" }, "London", "Paris", 1],
    [{ match: "prefix" }, "Paris, of course", "Paris", 1],
    [{ match: "prefix" }, "It is Paris", "Paris", 0],
  ])("%j scores %j against %j with %d", (fields, answer, expected, value) => {
    expect(exact(fields, answer, expected)).toEqual({ class: "scored", value, passed: value === 1 });
  });

  test.each([undefined, null, {}, [], [{}], ["A", null]])("cannot score against %j", (expected) => {
    expect(exact({}, "A", expected)).toMatchObject({ class: "unscorable", value: null });
  });

  test("says nothing about a beginning that every answer has", () => {
    expect(exact({ match: "prefix" }, "A", "")).toMatchObject({ class: "unscorable" });
  });
});

describe("includes", () => {
  test.each([
    [{}, "It is Paris.", "Paris", 1],
    [{}, "It is paris.", "Paris", 0],
    [{ ignoreCase: true }, "It is paris.", "Paris", 1],
    [{}, "only b", ["a1", "b"], 1],
    [{ match: "all" }, "both a1 and b", ["a1", "b"], 1],
    [{}, "7 of 9", 9, 1],
    [{}, "Paris", "the city of Paris", 0],
    [{ eitherWay: true }, "Paris", "the city of Paris", 1],
    [{ eitherWay: true }, "", "Paris", 0],
    [{ eitherWay: true }, "", "", 1],
    [{ normalize: true }, "I saw   the red, big fox!", "A RED BIG FOX", 1],
    [{ normalize: true }, "another", "other", 1],
    [{ normalize: true }, "Théa", "Thé", 1],
  ])("%j scores %j against %j with %d", (fields, answer, expected, value) => {
    expect(includes(fields, answer, expected)).toMatchObject({ class: "scored", value });
  });

  test("names the text that is missing", () => {
    expect(includes({ match: "all" }, "only a", ["a", "b"])).toMatchObject({
      value: 0,
      explanation: 'Missing: "b"',
    });
  });

  test("says nothing about a text that every answer contains", () => {
    expect(includes({}, "A", "")).toMatchObject({ class: "unscorable" });
    expect(includes({ normalize: true }, "A", "The")).toMatchObject({ class: "unscorable" });
    expect(includes({}, "A")).toMatchObject({ class: "unscorable" });
  });
});

describe("regex", () => {
  test.each([
    [{ pattern: "^\\d+$" }, "123", undefined, 1],
    [{ pattern: "^\\d+$" }, "x123", undefined, 0],
    [{ pattern: "PARIS", flags: "i" }, "paris", undefined, 1],
    [{}, "abc", "b.$", 1],
    [{}, "abc", ["x", "c$"], 1],
    [{ pattern: "answer: (\\w+)", group: 1 }, "The answer: B", "B", 1],
    [{ pattern: "answer: (\\w+)", group: 1 }, "The answer: B", ["A", "C"], 0],
    [{ pattern: "answer: (\\w+)", group: 1 }, "none", "B", 0],
    [{ pattern: "(a)|b", group: 1 }, "b", "a", 0],
    [{ pattern: "\\d+", group: 0 }, "is 42", 42, 1],
  ])("%j scores %j against %j with %d", (fields, answer, expected, value) => {
    expect(regex(fields, answer, expected)).toMatchObject({ class: "scored", value });
  });

  test("fails for a pattern that is not valid", () => {
    expect(regex({ pattern: "(" }, "a")).toMatchObject({ class: "failed", value: null });
    expect(regex({}, "a", "(")).toMatchObject({ class: "failed" });
    expect(regex({ group: 1 }, "a", "(a)")).toMatchObject({ class: "failed" });
  });

  test("does not cut a long answer, in which the match could be", () => {
    const answer = "a".repeat(MAX_MATCHED_CHARS);
    expect(regex({ pattern: "^a+$" }, answer)).toMatchObject({ value: 1 });
    expect(regex({ pattern: "^a+$" }, `${answer}a`)).toMatchObject({ class: "unscorable" });
  });

  test("needs an expected value for a group", () => {
    expect(regex({ pattern: "(a)", group: 1 }, "a")).toMatchObject({ class: "unscorable" });
  });
});
