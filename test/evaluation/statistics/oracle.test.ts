import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as statistics from "../../../src/evaluation/statistics/index.ts";
import * as normal from "../../../src/evaluation/statistics/normal-distribution.ts";
import * as student from "../../../src/evaluation/statistics/student-distribution.ts";

// `npm run statistics-oracle -- --record` writes the file: SciPy and statsmodels have computed it.

const SCRIPT = new URL("../../../scripts/statistics-tables.mjs", import.meta.url).href;

type Numbers = Readonly<Record<string, number>>;
type Table = { readonly seed: number; readonly expected: Numbers };

const { computeTable, createTable, expandTable, measureDistance } = (await import(
  /* @vite-ignore */ SCRIPT
)) as {
  computeTable(
    module: typeof statistics,
    distributions: typeof normal & typeof student,
    table: object,
  ): Numbers;
  createTable(module: typeof statistics, seed: number): object;
  expandTable(module: typeof statistics, table: object): object;
  measureDistance(actual: number | undefined, expected: number | undefined): number;
};

const { tables } = JSON.parse(readFileSync(new URL("oracle.json", import.meta.url), "utf8")) as {
  readonly tables: readonly Table[];
};

test("every number about the recorded tables is that of SciPy or statsmodels", () => {
  expect(tables).toHaveLength(20);
  for (const { expected, ...table } of tables) {
    const actual = computeTable(statistics, { ...normal, ...student }, expandTable(statistics, table));
    expect(Object.keys(actual).sort()).toEqual(Object.keys(expected).sort());
    const wrong = Object.keys(expected).filter(
      (name) => !(measureDistance(actual[name], expected[name]) <= 1e-9),
    );
    expect([table.seed, wrong]).toEqual([table.seed, []]);
  }
});

test("a recorded table is the one that its seed makes", () => {
  const { expected: _, ...table } = tables[0] as Table;
  expect(createTable(statistics, table.seed)).toEqual(table);
});
