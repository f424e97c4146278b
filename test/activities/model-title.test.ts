import { describe, expect, test } from "vitest";
import { askForTitle, buildTitleQuestion, toModelTitle } from "../../src/activities/title/ask-for-title.ts";

describe("the question for a title", () => {
  test("has the beginnings of the prompt and of the answer, and asks for few tokens", () => {
    const question = buildTitleQuestion({ prompt: "Fix it", answer: "ä".repeat(5000) });
    expect(question.maxTokens).toBe(32);
    expect(question.text).toMatch(/^<prompt>\nFix it\n<\/prompt>\n\n<answer>\nä+\.\.\.\n<\/answer>$/);
    expect(Buffer.byteLength(question.text as string)).toBeLessThan(2200);
  });

  test("an answer without words is no title", async () => {
    const model = { ask: async () => "\n \u201c\u201d" };
    const exchange = { prompt: "Go", answer: "Done" };
    expect(await askForTitle(exchange, model, new AbortController().signal)).toBeUndefined();
  });
});

describe("what a model answers becomes a title", () => {
  test.each([
    ["Flaky tests at night", "Flaky tests at night"],
    ['"Flaky tests at night."', "Flaky tests at night"],
    ["„Nächtliche Fehler“", "Nächtliche Fehler"],
    ["**Title: Flaky tests**", "Flaky tests"],
    ["# Flaky\ttests\nand more", "Flaky tests"],
    ["\u001b[31mFlaky\u001b[0m \u202etests", "[31mFlaky[0m tests"],
    ["「夜のテスト」", "夜のテスト"],
    ["What is C++?", "What is C++?"],
  ])("%j", (answer, title) => {
    expect(toModelTitle(answer)).toBe(title);
  });

  test("of at most 60 characters, without what looks like a key", () => {
    const long = toModelTitle(`Rename ${"word ".repeat(40)}`) ?? "";
    expect(long.length).toBeLessThanOrEqual(60);
    expect(long).toMatch(/word…$/);
    expect(toModelTitle("Use sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")).not.toContain("abcdefgh");
  });
});
