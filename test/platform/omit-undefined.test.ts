import { expect, test } from "vitest";
import { omitUndefined } from "../../src/platform/text/omit-undefined.ts";

test("fields that are undefined are absent, all other values and their order stay", () => {
  const given = { b: 0, gone: undefined, a: "", n: null, f: false, nothing: undefined, list: [] };
  const fields = omitUndefined(given);
  expect(Object.entries(fields)).toStrictEqual([
    ["b", 0],
    ["a", ""],
    ["n", null],
    ["f", false],
    ["list", []],
  ]);
  expect(given).toHaveProperty("gone", undefined);
});

test("the type makes a field optional only if it may be undefined", () => {
  const model: string | undefined = process.argv[0];
  const fields: { turns: number; model?: string } = omitUndefined({ turns: 1, model });
  expect(fields).toStrictEqual({ turns: 1, model });
});
