import { expect, test } from "vitest";
import { readRedactionFromEnvironment } from "../../src/client/runs/redact-content.ts";

test.each([
  [undefined, {}],
  ["", {}],
  ["off", {}],
  [" on ", { redactContent: true }],
])("HOLDFAST_REDACT_CONTENT=%s sets %j [TMP-09.5]", (setting, settings) => {
  expect(
    readRedactionFromEnvironment(setting === undefined ? {} : { HOLDFAST_REDACT_CONTENT: setting }),
  ).toEqual(settings);
});

test("an invalid value is rejected, since it must not show content [TMP-09.5]", () => {
  expect(() => readRedactionFromEnvironment({ HOLDFAST_REDACT_CONTENT: "no" })).toThrow(
    /valid values are on and off/,
  );
});
