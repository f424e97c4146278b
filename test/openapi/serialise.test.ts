import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type SerialisationStyle,
  serialiseHeader,
  serialisePathParameter,
  serialiseQueryParameter,
} from "../../src/tools/sources/openapi/serialise.ts";
import { anyCodePoint } from "../support/any-code-point.ts";

const LIST = ["blue", "black", "brown"];
const TABLE = { R: 100, G: 200, B: 150 };
const manner = (style: string, explode: boolean) => ({ style, explode }) as SerialisationStyle;
const query = (value: unknown, style: string, explode: boolean) =>
  serialiseQueryParameter("color", value, manner(style, explode))
    .map((pair) => pair.join("="))
    .join("&");

describe("the examples of OpenAPI 3.1.1, section Style Examples", () => {
  test.each([
    ["matrix", false, ";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"],
    ["matrix", true, ";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"],
    ["label", false, ".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"],
    ["label", true, ".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"],
    ["simple", false, "", "blue", "blue,black,brown", "R,100,G,200,B,150"],
    ["simple", true, "", "blue", "blue,black,brown", "R=100,G=200,B=150"],
  ] as const)("path %s, explode %s [OAPI-06.1]", (style, explode, empty, word, list, table) => {
    const part = (value: unknown) => serialisePathParameter("color", value, manner(style, explode));
    expect([part(""), part("blue"), part(LIST), part(TABLE)]).toEqual([empty, word, list, table]);
  });

  test.each([
    ["form", false, "color=", "color=blue,black,brown", "color=R,100,G,200,B,150"],
    ["form", true, "color=", "color=blue&color=black&color=brown", "R=100&G=200&B=150"],
    ["spaceDelimited", false, "color=", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"],
    ["pipeDelimited", false, "color=", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"],
    [
      "deepObject",
      true,
      "color=",
      "color%5B%5D=blue&color%5B%5D=black&color%5B%5D=brown",
      "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
    ],
  ] as const)("query %s, explode %s [OAPI-06.2]", (style, explode, empty, list, table) => {
    expect([query("", style, explode), query(LIST, style, explode), query(TABLE, style, explode)]).toEqual([
      empty,
      list,
      table,
    ]);
  });

  test("headers are comma-separated lists, and objects follow their explode setting [OAPI-06.2]", () => {
    const value = (explode: boolean, of: unknown) => serialiseHeader(of, manner("simple", explode));
    expect([value(false, LIST), value(false, TABLE), value(true, TABLE)]).toEqual([
      "blue,black,brown",
      "R,100,G,200,B,150",
      "R=100,G=200,B=150",
    ]);
  });
});

test("nested objects continue with brackets, lists of objects with indexes", () => {
  expect(query({ a: { b: 1 }, c: ["x", "y"], d: [{ e: true }] }, "deepObject", true)).toBe(
    "color%5Ba%5D%5Bb%5D=1&color%5Bc%5D%5B%5D=x&color%5Bc%5D%5B%5D=y&color%5Bd%5D%5B0%5D%5Be%5D=true",
  );
});

test("reserved characters stay where they are allowed, except those that end a value or begin another", () => {
  const [[, value]] = serialiseQueryParameter("q", "a/b:c?d=e&f#g+h;i[j]'k", {
    style: "form",
    explode: true,
    reserved: true,
  }) as [[string, string]];
  expect(value).toBe("a/b:c?d=e%26f%23g%2Bh%3Bi%5Bj%5D%27k");
});

const anything = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.array(fc.string({ unit: anyCodePoint }), { maxLength: 3 }),
  fc.dictionary(fc.string({ unit: anyCodePoint }), fc.string({ unit: anyCodePoint }), { maxKeys: 3 }),
);
const styles = fc.constantFrom("form", "spaceDelimited", "pipeDelimited", "deepObject");

test("any value stays a value: it ends no query and sets no other parameter", () => {
  fc.assert(
    fc.property(anything, styles, fc.boolean(), fc.boolean(), (value, style, explode, reserved) => {
      const pairs = serialiseQueryParameter("p", value, {
        style: style as SerialisationStyle["style"],
        explode,
        ...(reserved ? { reserved } : {}),
      });
      const url = new URL(`http://h/x?${[...pairs.map((pair) => pair.join("=")), "last=1"].join("&")}`);
      expect([url.pathname, url.hash, [...url.searchParams].length]).toEqual(["/x", "", pairs.length + 1]);
      expect(url.searchParams.getAll("last").at(-1)).toBe("1");
    }),
  );
});
