import fc from "fast-check";
import { expect, test } from "vitest";
import { compareLines, diffLines } from "../../src/apps/cli/line-changes.ts";

const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 }).map((lines) => lines.join("\n"));

test("without the added lines it is the first text, without the removed lines the second", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = compareLines(before, after);
      const without = (type: string) => lines.filter((line) => line.type !== type).map((line) => line.text);
      expect(without("added").join("\n")).toBe(before);
      expect(without("removed").join("\n")).toBe(after);
    }),
  );
});

test("no line is both removed and added that could have stayed", () => {
  expect(compareLines("a\nb\nc", "b\nc\nd").map(({ type, text }) => `${type} ${text}`)).toEqual([
    "removed a",
    "same b",
    "same c",
    "added d",
  ]);
});

test("lines far from a change are counted, not displayed", () => {
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
  const changed = lines.with(15, "other");
  const shown = diffLines(lines.join("\n"), changed.join("\n"));
  expect(shown[0]).toEqual({ type: "skipped", lines: 12 });
  expect(shown.at(-1)).toEqual({ type: "skipped", lines: 11 });
  expect(shown).toHaveLength(2 + 3 + 2 + 3);
});

test("texts of many lines are compared quickly, as one block", () => {
  const many = (word: string) => Array.from({ length: 5_000 }, (_, at) => `${word} ${at}`).join("\n");
  expect(diffLines(many("old"), many("new"))).toHaveLength(10_000);
});

test("few changes in many lines are displayed each, not as one block", () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}`);
  const changed = lines.with(10, "other").with(19_000, "another");
  const types = diffLines(lines.join("\n"), changed.join("\n")).map(({ type }) => type);
  expect(types.filter((type) => type === "removed" || type === "added")).toHaveLength(4);
});
