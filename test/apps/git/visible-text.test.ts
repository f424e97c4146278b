import fc from "fast-check";
import { expect, test } from "vitest";
import { toVisibleJson, toVisibleName, toVisibleText } from "../../../src/apps/git/index.ts";
import { anyCodePoint } from "../../support/any-code-point.ts";

const anyText = fc.string({ unit: anyCodePoint, maxLength: 50 });

test("a text shows its control characters, and keeps all others", () => {
  expect(toVisibleText("a\tb\nc \x1b[2J\r \u202e\u200b \u0085 é 日 👩")).toBe(
    "a\tb\nc \\x1b[2J\\r \\u{202e}\\u{200b} \\x85 é 日 👩",
  );
  expect(toVisibleName("a b.ts")).toBe("a b.ts");
  expect(toVisibleName('a\n"b')).toBe('"a\\n\\"b"');
});

test("whatever it contains, a text has no control character afterwards, and a name is one line", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(toVisibleText(text)).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
      expect(toVisibleName(text)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }),
  );
});

test("a value that is printed as JSON is the same value, without a control character", () => {
  fc.assert(
    fc.property(fc.array(anyText), (texts) => {
      const json = toVisibleJson({ texts });
      expect(JSON.parse(json)).toEqual({ texts });
      expect(json).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }),
  );
});
