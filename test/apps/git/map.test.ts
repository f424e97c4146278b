import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findByPattern } from "../../../src/apps/git/map/find-by-pattern.ts";
import { formatMap } from "../../../src/apps/git/map/format-map.ts";
import { findByGrammar } from "../../../src/apps/git/map/grammar.ts";
import { GrammarThread } from "../../../src/apps/git/map/grammar-thread.ts";
import { type MappedFile, rankFiles } from "../../../src/apps/git/map/rank-files.ts";

describe("a grammar finds what a file defines and imports", () => {
  test.each([
    [
      "a.ts",
      'import { x } from "./x.ts";\nexport const limit = 1;\nexport class Box<T> {\n  open(): void {}\n}\ninterface Shape {}\ntype Id = string;\nenum Kind { A }\nfunction run() {}\n',
      "limit constant, Box class, open method, Shape interface, Id type, Kind enum, run function",
      ["./x.ts"],
    ],
    ["a.tsx", 'export function Page() {\n  return <div title="a" />;\n}\n', "Page function", []],
    ["a.mjs", "export function* list() {}\nclass Item {}\n", "list function, Item class", []],
    [
      "a.py",
      "from os import path\nLIMIT = 1\nclass Box:\n    def open(self):\n        pass\n",
      "LIMIT constant, Box class, open function",
      ["os"],
    ],
    [
      "a.go",
      'package a\n\nimport "fmt"\n\ntype Box struct{}\n\nfunc (b *Box) Open() { fmt.Println() }\n\nfunc New() *Box { return nil }\n',
      "Box type, Open method, New function",
      ["fmt"],
    ],
    [
      "a.rs",
      "use std::fmt;\npub struct Box;\nimpl Box {\n    pub fn open(&self) {}\n}\ntrait Shape {}\nmacro_rules! area { () => {} }\n",
      "Box struct, open function, Shape trait, area macro",
      ["std::fmt"],
    ],
    [
      "A.java",
      "import java.util.List;\nclass Box {\n  int open() { return 1; }\n}\ninterface Shape {}\n",
      "Box class, open method, Shape interface",
      ["java.util.List"],
    ],
    [
      "a.c",
      "#include <stdio.h>\nstruct box { int a; };\nint open_box(struct box *b) { return b->a; }\n#define AREA(x) (x)\n",
      "box struct, open_box function, AREA macro",
      ["stdio.h"],
    ],
  ] as const)("%s", async (path, text, definitions, imports) => {
    const found = await findByGrammar(path, text);
    expect(found?.definitions.map(({ name, kind }) => `${name} ${kind}`).join(", ")).toBe(definitions);
    expect(found?.imports).toEqual(imports);
    for (const { name, line } of found?.definitions ?? []) expect(text.split("\n")[line - 1]).toContain(name);
  });

  test("a file that is not finished still has definitions, and an unknown language has none", async () => {
    expect(
      (await findByGrammar("a.ts", "function run() {}\nfunction stop() {\n  if (x {\n"))?.definitions[0]
        ?.name,
    ).toBe("run");
    expect(await findByGrammar("a.rb", "def run\nend\n")).toBeUndefined();
  });

  test("other languages are mapped by the form of their lines", () => {
    const { definitions, imports } = findByPattern(
      "require 'set'\nmodule Shapes\n  class Box\n    def open!\n    end\n",
    );
    expect(definitions.map(({ name, line }) => `${name} ${line}`)).toEqual(["Shapes 2", "Box 3", "open! 4"]);
    expect(imports).toEqual(["set"]);
  });

  test("a file that is hard to parse is given up, and the next one is parsed", async () => {
    const thread = new GrammarThread();
    const hard = { path: "hard.py", text: `x = ${"[".repeat(120_000)}\n` };
    const [first, second] = await thread.parse([hard, { path: "a.py", text: "def run():\n    pass\n" }]);
    await thread.close();
    expect(first).toBeUndefined();
    expect(second?.definitions.map(({ name }) => name)).toEqual(["run"]);
  });
});

function makeFile(
  path: string,
  defines: readonly string[],
  uses: readonly string[],
  imports: readonly string[] = [],
): MappedFile {
  const definitions = defines.map((name, at) => ({
    name,
    kind: "function",
    line: at + 1,
    signature: `export function ${name}()`,
  }));
  return { path, definitions, imports, words: new Map([...defines, ...uses].map((word) => [word, 1])) };
}

describe("the rank of a file", () => {
  const files = [
    makeFile("src/core.ts", ["begin", "finish"], []),
    makeFile("src/one.ts", ["one"], ["begin", "finish"], ["./core.ts"]),
    makeFile("src/two.ts", ["two"], ["begin"], ["./core.ts"]),
    makeFile("src/alone.ts", ["alone"], []),
  ];
  const order = (lifted: readonly string[] = []) =>
    rankFiles(files, new Set(lifted)).map(({ file }) => file.path);

  test("a file that others use is first, and one that was changed or mentioned is lifted", () => {
    expect(order()[0]).toBe("src/core.ts");
    expect(order(["src/alone.ts"])[0]).toBe("src/alone.ts");
    expect(order(["alone"])[0]).toBe("src/alone.ts");
    expect(order().indexOf("src/two.ts")).toBeGreaterThan(1);
    expect(order(["two.ts"]).indexOf("src/two.ts")).toBeLessThanOrEqual(1);
  });

  const name = fc.constantFrom("alpha", "beta", "gamma", "delta", "epsilon");
  const graph = fc.uniqueArray(
    fc.record({
      path: fc.constantFrom("a.ts", "b.go", "c.py", "d.c", "e.rb"),
      defines: fc.uniqueArray(name),
      uses: fc.uniqueArray(name),
    }),
    { selector: ({ path }) => path },
  );

  test("the ranks of all files add up to one, whatever they use", () => {
    fc.assert(
      fc.property(graph, fc.array(name), (all, lifted) => {
        const ranks = rankFiles(
          all.map(({ path, defines, uses }) => makeFile(path, defines, uses)),
          new Set(lifted),
        );
        expect(ranks.map(({ file }) => file.path).toSorted()).toEqual(all.map(({ path }) => path).toSorted());
        if (all.length > 0) expect(ranks.reduce((sum, { rank }) => sum + rank, 0)).toBeCloseTo(1, 6);
      }),
    );
  });

  test("a map never exceeds its budget, and shows whole lines of known files", () => {
    fc.assert(
      fc.property(graph, fc.integer({ min: 1, max: 200 }), (all, maxTokens) => {
        const mapped = all.map(({ path, defines, uses }) => makeFile(path, defines, uses));
        const { text, tokens, entries } = formatMap(rankFiles(mapped), maxTokens);
        expect(tokens).toBeLessThanOrEqual(maxTokens);
        for (const { path, definitions, left } of entries) {
          const file = mapped.find((one) => one.path === path);
          expect(definitions.length + left).toBe(file?.definitions.length);
          for (const { signature } of definitions) expect(text).toContain(signature);
        }
      }),
    );
  });
});
