import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extractJson } from "../../src/platform/text/extract-json.ts";
import { cpuMs } from "../support/cpu-time.ts";

const found = (value: unknown) => ({ type: "found", value });

describe("a JSON value in a model's text", () => {
  test.each([
    ["the text itself", ' {"a": 1}\n', { a: 1 }],
    ["a bare value", "42", 42],
    ["a fenced block", 'Here:\n```json\n{"a": [1, 2]}\n```\nDone.', { a: [1, 2] }],
    ["a block without a language", "```\n[1]\n```", [1]],
    ["the block labelled json", '```js\n{"no": 1}\n```\n~~~json\n{"yes": 1}\n~~~', { yes: 1 }],
    ["an unclosed block", '```json\n{"a": 1}', { a: 1 }],
    ["a longer fence", '````json\n{"a": "```"}\n````', { a: "```" }],
    ["prose around an object", 'The result is {"a": {"b": "}"}} as asked.', { a: { b: "}" } }],
    ["an array within prose", "So: [1, [2]] and no more.", [1, [2]]],
    ["escaped quotes", 'x {"a": "\\"}\\\\"} y', { a: '"}\\' }],
    ["braces in prose before it", 'Use {name} and [note: {see below}]: {"a": 1}', { a: 1 }],
    ["a brace in prose that is never closed", 'Begin with { and then: {"a": 1}', { a: 1 }],
    ["the first of two", '{"a": 1} or {"a": 2}', { a: 1 }],
    ["a valid one after a broken one", '{"a": nope} then {"a": 2}', { a: 2 }],
    ["a block on one line", '```json {"a": 1}```', { a: 1 }],
  ])("%s [PHI-09.2]", (_what, text, value) => {
    expect(extractJson(text)).toEqual(found(value));
  });

  test("is the first that matches, or the first of all if none does [PHI-09.2]", () => {
    const text = 'As in [1], the answer is {"name": "x"}.';
    const isObject = (value: unknown) => typeof value === "object" && !Array.isArray(value);
    expect(extractJson(text)).toEqual(found([1]));
    expect(extractJson(text, isObject)).toEqual(found({ name: "x" }));
    expect(extractJson(text, () => false)).toEqual(found([1]));
    expect(extractJson('"said"', isObject)).toEqual(found("said"));
    expect(extractJson('```json\n1\n```\n{"a": 1}', isObject)).toEqual(found({ a: 1 }));
  });

  test("is reported as missing, cut off or invalid, with the reason [PHI-09.2]", () => {
    expect(extractJson("No data here.")).toEqual({
      type: "missing",
      reason: "The text holds no JSON object or array.",
    });
    expect(extractJson("Use {name} and [note]").type).toBe("missing");
    expect(extractJson('Here: {"a": [1, 2], "b": ')).toEqual({
      type: "cut-off",
      reason: "The JSON that begins at character 6 does not end.",
    });
    const invalid = extractJson('{"a": [1, 2],}');
    expect(invalid).toMatchObject({ type: "invalid" });
    expect(invalid.type === "invalid" && invalid.reason).toMatch(
      /^What begins at character 0 is not valid JSON: ./,
    );
  });

  test("is never a part of a broken value [PHI-09.2]", () => {
    expect(extractJson('{"a": {"b": 1}, c}').type).toBe("invalid");
    expect(extractJson('[{"a": 1}, {"b": ').type).toBe("cut-off");
  });

  test("is extracted from prose and from a block, for any object or array [PHI-09.2]", () => {
    const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    fc.assert(
      fc.property(value, fc.nat(3), (given, indent) => {
        const json = JSON.stringify(given, undefined, indent);
        const meant = found(JSON.parse(json));
        expect(extractJson(`Here it is: ${json} That is all.`)).toEqual(meant);
        expect(extractJson(`Here it is:\n\`\`\`json\n${json}\n\`\`\`\n`)).toEqual(meant);
      }),
      { numRuns: 10_000 },
    );
  }, 120_000);

  test("is reported as cut off if an object is truncated [PHI-09.2]", () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(value, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (given, share) => {
        const json = JSON.stringify(given);
        const cut = json.slice(0, 2 + Math.floor((json.length - 2) * share));
        expect(extractJson(cut).type).toBe("cut-off");
      }),
      { numRuns: 10_000 },
    );
  });

  test("is searched for in bounded time", () => {
    const spentMs = cpuMs(() => {
      for (const hostile of ["[", "{", "[1,", "{x ", "```\n"]) extractJson(hostile.repeat(100_000));
    });
    expect(spentMs).toBeLessThan(5000);
  });
});
