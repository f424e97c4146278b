import { expect, test } from "vitest";
import { toCsvLine } from "../../../src/evaluation/report/index.ts";

test("fields are separated by commas, and the line ends with CRLF", () => {
  expect(toCsvLine(["a", 1.5, true, null, undefined, "z"])).toBe("a,1.5,true,,,z\r\n");
});

test("fields with commas, quotes and line breaks are quoted, and quotes are doubled", () => {
  expect(toCsvLine(["a,b", 'say "hi"', "two\nlines", "a\rb", " spaces "])).toBe(
    '"a,b","say ""hi""","two\nlines","a\rb", spaces \r\n',
  );
});

test("a line with one empty field is not an empty line", () => {
  expect(toCsvLine([""])).toBe('""\r\n');
  expect(toCsvLine([])).toBe("\r\n");
  expect(toCsvLine(["", ""])).toBe(",\r\n");
});
