import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findSignals } from "../../../src/apps/git/changes/find-signals.ts";
import { rankFiles, scoreRelevance } from "../../../src/apps/git/changes/relevance.ts";
import { classifySize, describeGuidance } from "../../../src/apps/git/changes/size-class.ts";
import { makeChangedFile } from "./changed-file.ts";

const score = (...args: Parameters<typeof makeChangedFile>) =>
  scoreRelevance(makeChangedFile(...args)).percent;

/** A change set of as many files, with as many changed lines together. */
function changes(files: number, lines: number) {
  return {
    files: Array.from({ length: files }, (_, at) => makeChangedFile(`m${at}/x/f${at}.ts`)),
    added: Math.ceil(lines / 2),
    deleted: Math.floor(lines / 2),
  };
}

describe("the size of a change set [IRIS-26]", () => {
  test.each([
    [0, 0, "small"],
    [3, 99, "small"],
    [3, 100, "medium"],
    [4, 1, "medium"],
    [10, 499, "medium"],
    [10, 500, "large"],
    [11, 1, "large"],
  ] as const)("%i files with %i lines are %s", (files, lines, size) => {
    expect(classifySize(changes(files, lines))).toBe(size);
    expect(classifySize(changes(files, lines), true)).toBe("filtered");
  });

  test("each size says how to go on, and a large one of several modules names parallel_analyze", () => {
    expect(describeGuidance("small", changes(1, 1))).toContain("equal");
    expect(describeGuidance("medium", changes(5, 1))).toContain("60 %");
    expect(describeGuidance("large", changes(2, 900))).toContain('detail="standard"');
    expect(describeGuidance("large", changes(2, 900))).not.toContain("parallel_analyze");
    expect(describeGuidance("large", changes(12, 900))).toContain("parallel_analyze");
  });

  test("more files or more lines never make it smaller", () => {
    const order = ["small", "medium", "large"];
    const nat = fc.nat({ max: 1_000 });
    fc.assert(
      fc.property(
        fc.nat({ max: 20 }),
        nat,
        fc.nat({ max: 20 }),
        nat,
        (files, lines, moreFiles, moreLines) => {
          const before = order.indexOf(classifySize(changes(files, lines)));
          expect(
            order.indexOf(classifySize(changes(files + moreFiles, lines + moreLines))),
          ).toBeGreaterThanOrEqual(before);
        },
      ),
    );
  });
});

describe("the relevance of a file [IRIS-27]", () => {
  test("added before modified before deleted, source before config before docs, src before test", () => {
    const of = (change: "added" | "modified" | "deleted") => score("lib/a.ts", { change });
    expect(of("added")).toBeGreaterThan(of("modified"));
    expect(of("modified")).toBeGreaterThan(of("deleted"));
    expect(score("a.rs")).toBeGreaterThan(score("a.toml"));
    expect(score("a.toml")).toBeGreaterThan(score("a.md"));
    expect(score("src/a.ts")).toBeGreaterThan(score("test/a.ts"));
    expect(score("src/a.test.ts")).toBeLessThan(score("src/a.ts"));
  });

  test("a substantive change, a new function and a new type raise it; generated and vendored files are last", () => {
    const plain = score("lib/a.ts");
    expect(score("lib/a.ts", { added: 50 })).toBeGreaterThan(plain);
    expect(score("lib/a.ts", { added: 5_000 })).toBeGreaterThan(plain);
    expect(score("lib/a.ts", { signals: ["adds function"] })).toBeGreaterThan(plain);
    expect(score("lib/a.ts", { signals: ["adds type"] })).toBeGreaterThan(plain);
    expect(score("package-lock.json", { added: 5_000 })).toBeLessThan(score("README.md"));
    expect(score("vendor/a.go")).toBeLessThan(score("package-lock.json"));
  });

  test("it is a percentage, and ranking keeps every file and the order of equals", () => {
    const path = fc.constantFrom("src/a.ts", "b.md", "vendor/c.c", "package-lock.json", "test/d.py", "e");
    const change = fc.constantFrom(
      "added" as const,
      "deleted" as const,
      "renamed" as const,
      "modified" as const,
    );
    const file = fc
      .record({ path, change, added: fc.nat({ max: 1_000 }), deleted: fc.nat({ max: 1_000 }) })
      .map(({ path, ...fields }) => makeChangedFile(path, fields));
    fc.assert(
      fc.property(fc.array(file), (files) => {
        const ranked = rankFiles(files);
        expect(new Set(ranked.map((one) => one.file))).toEqual(new Set(files));
        for (const [at, { file: one, relevance }] of ranked.entries()) {
          expect(relevance.percent).toBeGreaterThanOrEqual(0);
          expect(relevance.percent).toBeLessThanOrEqual(100);
          const next = ranked[at + 1];
          if (next === undefined) continue;
          expect(next.relevance.percent).toBeLessThanOrEqual(relevance.percent);
          if (next.relevance.percent === relevance.percent)
            expect(files.indexOf(one)).toBeLessThan(files.indexOf(next.file));
        }
      }),
    );
  });

  test.each([
    ["a.ts", "export async function run() {", ["adds function"]],
    ["a.ts", "const run = async (a) => {", ["adds function"]],
    ["a.ts", "export type A = 1;", ["adds type"]],
    ["a.ts", 'import { a } from "b";', ["modifies imports"]],
    ["a.rs", "pub(crate) async fn run() {", ["adds function"]],
    ["a.rs", "impl A for B {", ["adds type"]],
    ["a.py", "    def run(self):", ["adds function"]],
    ["a.go", "func (t *T) Run() {", ["adds function"]],
    ["A.java", "public static int run(int a) {", ["adds function"]],
    ["a.c", "static int run(int a)", ["adds function"]],
    ["a.h", "#include <stdio.h>", ["modifies imports"]],
    ["a.txt", "function run() {", []],
    ["a.ts", "return run();", []],
  ] as const)("%s: %s", (path, line, signals) => {
    expect(findSignals(path, line)).toEqual(signals);
  });
});
