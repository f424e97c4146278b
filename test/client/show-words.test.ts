import { expect, test } from "vitest";
import { readRedactionFromEnvironment } from "../../src/client/runs/redact-content.ts";

test.each([
  [undefined, {}],
  ["", {}],
  ["on", {}],
  [" off ", { words: "none" }],
])("HOLDFAST_SHOW_WORDS=%s sets %j [TMP-09]", (said, settings) => {
  expect(readRedactionFromEnvironment(said === undefined ? {} : { HOLDFAST_SHOW_WORDS: said })).toEqual(
    settings,
  );
});

test("an invalid value is rejected, since it must not show content [TMP-09]", () => {
  expect(() => readRedactionFromEnvironment({ HOLDFAST_SHOW_WORDS: "no" })).toThrow(
    /valid values are on and off/,
  );
});
