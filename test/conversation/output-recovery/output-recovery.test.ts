import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ARTIFACT_TYPES, type ArtifactType } from "../../../src/apps/git/artifacts/artifact-types.ts";
import { recoverOutput, recoverValue } from "../../../src/conversation/output-recovery/recover-output.ts";
import { readOutput } from "../../../src/conversation/output-value.ts";
import { matchesSchema } from "../../../src/platform/json-schema/schema-validator.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { isThorough, thoroughTest } from "../../support/test-depth.ts";
import { buildCorpus, getArtifactSchema, loadFurtherMutators, MUTATORS } from "./corpus.ts";
import { measure } from "./measure.ts";
import { createRandom, type JsonSchema } from "./mutator.ts";
import { writeArtifact } from "./valid-artifacts.ts";

const TYPES = Object.keys(ARTIFACT_TYPES) as ArtifactType[];
const recover = (text: string, schema: JsonSchema) => recoverOutput(text, schema, matchesSchema);

describe("measured on the corpus, Holdfast", () => {
  test("recovers more than jsonrepair and the AI SDK, with no wrong values [IRIS-17, IRIS-18, IRIS-19]", async () => {
    const { figures } = await measure(3, 1, await loadFurtherMutators());
    const { holdfast, jsonrepair, aiSdk } = figures;
    expect(holdfast.recoveredShare).toBeGreaterThan(0.95);
    expect(holdfast.recovered).toBeGreaterThan(Math.max(jsonrepair.recovered, aiSdk.recovered));
    expect(holdfast.wrong).toBe(0);
  });
});

thoroughTest("the table of docs/structured-output.md is what the corpus gives", async () => {
  const page = await readFile(new URL("../../../docs/structured-output.md", import.meta.url), "utf8");
  const { figures } = await measure(1, 5, await loadFurtherMutators());
  const { holdfast, strict, jsonrepair, aiSdk } = figures;
  expect(page).toContain(`${figures.outputs} outputs, of which ${figures.recoverable} still say enough`);
  const rows = [...page.matchAll(/% \((\d+)\) \|[^|]*% \((\d+)\)/g)].map(([, ...counts]) =>
    counts.map(Number),
  );
  expect(rows).toEqual(
    [holdfast, strict, jsonrepair, aiSdk].map(({ recovered, wrong }) => [recovered, wrong]),
  );
});

test.each([
  ["in another spelling", '{"state":"TO DO"}', ["to-do", "done"], { state: "to-do" }],
  ["in a spelling that fits two members", '{"state":"TO DO"}', ["to-do", "todo"], undefined],
  ["cut off", '{"state":"do', ["open", "done"], { state: "done" }],
  ["cut off, where two members begin alike", '{"state":"do', ["doing", "done"], undefined],
])("a value of an enum %s", (_, text, members, expected) => {
  const state = { enum: members };
  const schema: JsonSchema = { type: "object", properties: { state }, required: ["state"] };
  expect(recover(text, schema)?.value).toEqual(expected);
});

describe("a property of recovery:", () => {
  const anyType = fc.constantFrom(...TYPES);
  const anySeed = fc.integer({ min: 1, max: 1_000_000 });

  test("it never throws, and what it returns matches the schema", () => {
    const fragments = fc.constantFrom(
      ...'{ } [ ] , : " \' ` \\ \n \t ``` ```json // /* */ # true null 12 -0. \\u12 \\" \u201c summary title text content findings severity'.split(
        " ",
      ),
    );
    const text = fc.oneof(
      fc.array(fragments, { maxLength: 40 }).map((all) => all.join("")),
      fc.string(),
    );
    fc.assert(
      fc.property(text, anyType, (written, type) => {
        const schema = getArtifactSchema(type);
        const recovery = recover(written, schema);
        expect(recovery === undefined || matchesSchema(recovery.value, schema, schema)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("a valid value passes unchanged and without repairs", () => {
    fc.assert(
      fc.property(anySeed, anyType, (seed, type) => {
        const value = writeArtifact(type, createRandom(seed));
        const schema = getArtifactSchema(type);
        expect(recover(JSON.stringify(value), schema)).toEqual({ value, repairs: [] });
        expect(recoverValue(value, schema, matchesSchema)).toEqual({ value, repairs: [] });
      }),
    );
  });

  test("it invents nothing for a required field without a default", () => {
    fc.assert(
      fc.property(anySeed, anyType, (seed, type) => {
        const schema = getArtifactSchema(type);
        const value = writeArtifact(type, createRandom(seed)) as Record<string, unknown>;
        const required = schema["required"] as readonly string[];
        for (const name of required) {
          const { [name]: _, ...rest } = value;
          expect(recover(JSON.stringify(rest), schema)).toBeUndefined();
          expect(recover(JSON.stringify({ ...rest, [name]: null }), schema)).toBeUndefined();
        }
      }),
    );
  });

  test("every recovered text comes from the answer", () => {
    const alphabet = [...'{}[],:"\\ ab\n'];
    const edit = fc.record({
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      put: fc.constantFrom("", ...alphabet),
    });
    fc.assert(
      fc.property(anySeed, anyType, fc.array(edit, { minLength: 1, maxLength: 3 }), (seed, type, edits) => {
        const written = edits.reduce(
          (text, { at, put }) => {
            const position = Math.floor(at * text.length);
            return text.slice(0, position) + put + text.slice(position + 1);
          },
          JSON.stringify(writeArtifact(type, createRandom(seed))),
        );
        const words = (text: string) => text.match(/[\p{L}]{3,}/gu) ?? [];
        const schema = getArtifactSchema(type);
        const recovery = recover(written, schema);
        const decoded = written.replaceAll(/\\[nt]/g, " ");
        for (const word of words(JSON.stringify(recovery?.value ?? "").replaceAll(/\\[nt]/g, " ")))
          expect(decoded + JSON.stringify(schema)).toContain(word);
      }),
    );
  });
});

describe("bounded work:", () => {
  const schema = getArtifactSchema("Review");
  const MANY = 20_000;
  const LARGE = 1_000_000;

  const texts = [
    ["opening brackets", "[".repeat(MANY)],
    ["objects within objects", '{"a":'.repeat(MANY)],
    ["objects of the root's own field", '{"summary":'.repeat(MANY)],
    ["closing brackets after a value", `{"summary":"x"${"}".repeat(MANY)}`],
    ["a text of 1 MB without an end", `{"summary":"${"x ".repeat(LARGE / 2)}`],
    ["1 MB of quotes within a text", `{"summary":"${'a "b", '.repeat(LARGE / 7)}","findings":[]}`],
    ["1 MB of quotes and brackets", `{"summary":"${'"} '.repeat(LARGE / 3)}`],
    ["1 MB of fields within a text", `{"summary":"${'","findings": '.repeat(LARGE / 14)}`],
    ["1 MB of backslashes", `{"summary":"${"\\".repeat(LARGE)}`],
    ["1 MB of openings", '{"summary" '.repeat(LARGE / 11)],
    ["1 MB of white space", `{"summary":${" ".repeat(LARGE)}`],
    ["1 MB of comments", `{${"/* a */".repeat(LARGE / 7)}`],
    ["1 MB of commas", `{${",".repeat(LARGE)}`],
    ["1 MB of lines that begin objects", '\n{"summary":"a'.repeat(LARGE / 14)],
    ["1 MB without a quote's end in each line", '"summary: a\n'.repeat(LARGE / 12)],
    ["1 MB of spaces after a text", `{"summary":"a"${" ".repeat(LARGE)}`],
    ["1 MB of quotes before spaces", `{"summary":"${`"${" ".repeat(999)}`.repeat(LARGE / 1000)}`],
    ["1 MB of comments without an end", `{"summary":"a "b" ${'",/* '.repeat(LARGE / 5)}`],
    ["1 MB of names without an end", `{"summary":"a "b" ${'",\u00ab'.repeat(LARGE / 3)}`],
    ["1 MB of line breaks after a quote", `{"summary":"a "b" ${"\n".repeat(LARGE)}`],
    ["1 MB of line breaks within a text", `{"summary":"a "b" ${"\n".repeat(LARGE)}","findings":[]}`],
    [
      "1 MB of spaces within a number",
      `{"summary":"s","findings":[],"stats":{"files_reviewed":"1${" ".repeat(LARGE)}2"},}`,
    ],
    ["1 MB of spaces after a word", `{"summary":word${" ".repeat(LARGE)}`],
    ["1 MB of objects", '{"summary":"a"}\n'.repeat(LARGE / 16)],
    ["1 MB of objects in percent-encoding", "%7B".repeat(LARGE / 3)],
    ["1 MB of fields in a list", '- summary: "a"\n'.repeat(LARGE / 15)],
    ["1 MB of parentheses", `{"summary": ${"(".repeat(LARGE)}`],
    ["1 MB of times", "{\n".padStart(20, "10:00:00 ").repeat(LARGE / 20)],
    ["1 MB of names in bold", `{${"**summary".repeat(LARGE / 9)}`],
    ["1 MB of escaped quotes", `{\\"summary\\":\\"${'\\\\"'.repeat(LARGE / 3)}`],
  ] as const;
  // `npm test` tries every third text.
  test.each(texts.filter((_, nth) => isThorough || nth % 3 === 0))("%s", (_, text) => {
    let recovery: ReturnType<typeof recover>;
    // On a free processor the slowest of these takes about 400 ms.
    expect(cpuMs(() => (recovery = recover(text, schema)))).toBeLessThan(2000);
    expect(recovery === undefined || matchesSchema(recovery.value, schema, schema)).toBe(true);
  });

  test("the list of repairs is short, whatever the answer has", () => {
    const names = Array.from({ length: 100 }, (_, index) => `"${index}${"x".repeat(500)}": ${index}`);
    const recovery = recover(`{"text": "a", ${names.join(", ")}}`, getArtifactSchema("PlainText"));
    expect(recovery?.value).toEqual({ text: "a" });
    expect(recovery?.repairs).toHaveLength(10);
    expect(recovery?.repairs.at(-1)).toBe("and 91 more");
    expect(JSON.stringify(recovery?.repairs).length).toBeLessThan(1200);
  });
});

describe("the list of repairs names", () => {
  const repairsOf = (text: string, type: ArtifactType) => recover(text, getArtifactSchema(type))?.repairs;

  test("what was done, field by field", () => {
    const text = `{
      'requires_revision': "yes",
      issues: {"title": "a", "body": "b", "Severity": "HIGH"},
      "confidence": "85%",
    }`;
    expect(repairsOf(text, "Critique")).toEqual([
      "quotes or colons of names replaced",
      "missing quotes of names added",
      "superfluous commas removed",
      "requires_revision: text read as boolean",
      "issues: object read as list",
      "issues.0.severity: found under another name",
      'issues.0.severity: read as "high"',
      "confidence: text read as number",
    ]);
  });

  test("where a stream was cut", () => {
    const text = '{"summary": "s", "findings": [], "stats": {"files_reviewed": 12, "hunks_rev';
    expect(repairsOf(text, "Review")).toEqual(["missing brackets at the end added"]);
    expect(recover(text, getArtifactSchema("Review"))?.value).toEqual({
      summary: "s",
      findings: [],
      stats: { files_reviewed: 12 },
    });
  });
});

test("a list that was cut before its first complete item is not read as an empty one", () => {
  const schema = getArtifactSchema("Review");
  expect(recover('{"summary": "s", "findings": [', schema)).toBeUndefined();
  expect(recover('{"summary": "s", "findings": [{"id": "F1", "severity": "high"', schema)).toBeUndefined();
});

test("a number at the cut is not read: more digits may have followed", () => {
  expect(
    recover('{"requires_revision": true, "confidence": 8', getArtifactSchema("Critique")),
  ).toBeUndefined();
});

describe("refused because it can be read in two ways:", () => {
  test.each([
    ["a field with two values", '{"title": "a", "title": "b",}'],
    ["a field with two values under two names", '{"Title": "a", "TITLE": "b"}'],
    ["several answers", '[{"title": "a"}, {"title": "b"},]'],
    ["several answers, each in a fence", '```json\n{"title": "a"}\n```\n```json\n{"title": "b"}\n```'],
    ["an answer and a correction", '{"title": "a", "message": "b"}\n{"message": "c"}'],
    ["an unknown field where a known one is missing", '{"title": "a", "body": "b"}'],
    [
      "a field around the answer with the name of one of its own",
      '{"title": "Result", "value": {"title": "a"}}',
    ],
    [
      "an answer that may be within its own field",
      '{"role": "x", "message": "{\\"title\\": \\"a\\"}", "title": "b"}',
    ],
    ["a quote that may be missing, or one of the text", '{"title": "a", | \n"message": "b"}'],
    ["a text that may have swallowed a field", '{"title": "a" b", "body": "c", "message": ""}'],
    ["a colon that may be in the name or before the text", '{"title:"[a]", "message": ""}'],
    ["a comma within the quotes", '{"title": "a," "message": "b"}'],
    ["texts that may be one", '{"title": "a" "b", "message": "c"}'],
    ["quotes that are doubled", '{"title": "a ""b"" c", "message": ""}'],
    ["a line that continues", '{"title": "a \\\nb", "message": ""}'],
    ["the letters of a path", '{"title": "C:\\temp", "message": "\\d"}'],
    ["escapes of a program that put the answer in quotes", `f('{"title": "a\\\\nb"}')`],
    ["lines of which a program marked some", 'data: {"title": "a\n\ndata: b"}'],
    ["line breaks that a program may have put in", `{"title": "${"word ".repeat(10)}\nword", "message": ""}`],
    ["a plus sign that is a space or itself", "%7B%22title%22:%22a+b%22%7D"],
    ["a text in a list that is not JSON", '- title: a\n- message: "b"'],
    ["a number in a list that may be a text", '- title: 1.10\n- message: "b"'],
    ["two lists of the same fields", '- title: "a"\n- title: "b"'],
    ["lines of which a program dated some", '10:00 {"title": "a\n\n10:01 b"}'],
    ["an elision in a comment", '{"title": "a", /* ... */}'],
    ["colours of a program, and perhaps of the author", '{\u001b[31m"title"\u001b[0m: "a \u001b[32mb"}'],
  ])("%s", (_, text) => {
    expect(recover(text, getArtifactSchema("GeneratedMessage"))).toBeUndefined();
  });

  test("a list of texts that may be one text", () => {
    const schema = { type: "object", properties: { names: { type: "array", items: { type: "string" } } } };
    expect(recover('{"names": "a, b",}', schema)).toBeUndefined();
    expect(recover('{"names": "a b",}', schema)?.value).toEqual({ names: ["a b"] });
  });

  test("an object that matches alone where other fields of the answer follow, with and without recovery", () => {
    const text = '{"title": "a"}\n{"message": "b"}';
    const schema = getArtifactSchema("GeneratedMessage");
    const read = (recovery: "repair" | "strict", written: string) =>
      readOutput(
        { content: [{ type: "text", text: written }] },
        { type: "json-schema", schema, recovery },
        matchesSchema,
      );
    expect(read("strict", text).type).toBe("invalid");
    expect(read("strict", '{"title": "a {\\"b\\": \\"c"} d"}').type).toBe("invalid");
    expect(read("strict", `${text}\n{"title": "c"}`).type).toBe("invalid");
    expect(read("strict", 'The config {"retries": 3} stays.\n{"title": "a"}')).toMatchObject({
      value: { title: "a" },
    });
    expect(read("repair", text)).toMatchObject({ value: { title: "a", message: "b" } });
    expect(read("repair", `${text}\n{"title": "c"}`).type).toBe("invalid");
  });
});

describe("recovered from what programs put around it:", () => {
  const value = { title: "a", message: "b" };
  const lines = ["{", '  "title": "a",', '  "message": "b"', "}"];

  test.each([
    ["marks of a quotation", lines.map((line) => `> ${line}`)],
    ["a diff", ["+++ b/x.json", ...lines.map((line) => `+${line}`)]],
    ["numbers of lines", lines.map((line, index) => `${index + 9} | ${line}`)],
    ["the name of a service", ["Log:", ...lines.map((line) => `worker_1  | ${line}`), "", "End."]],
    ["lines that continue", [lines.join(" \\\n")]],
    ["colours", lines.map((line) => line.replace(/"\w+"(?=:)/, "\u001b[34m$&\u001b[0m"))],
    ["a call", [JSON.stringify({ type: "function", function: { name: "f", arguments: lines.join("\n") } })]],
    ["a broken-off beginning", ['{"title": "a', "", '{"title": "a", "message": "b"}']],
    ["quotes that are escaped", ['{\\"title\\": \\"a\\",\n\\"message\\": \\"b\\"}']],
    ["names with colons and signs", ['{"title:" "a", "**message**": "b"}']],
    ["names in bold", ['{**"title"**: "a", **message:** "b"}']],
    ["times", lines.map((line, index) => `[26/Nov 9:59:${index + 57}] INFO - ${line}`)],
    ["percent-encoding", ["As asked:", encodeURIComponent(encodeURI(lines.join("\n")))]],
    ["a list of fields", ["Here it is:", "", '1. **title:** "a"', '2. **message**: "b"']],
    ["an object for each field", ['{"title": "a"}', '{"message": "b"}']],
  ])("%s", (_, written) => {
    expect(recover(written.join("\n"), getArtifactSchema("GeneratedMessage"))?.value).toMatchObject(value);
  });
});

test("a tuple of Python is recovered as a list", () => {
  const text = `{'findings': ({'ids': (1, 2), 'note': 'so (or not)'},), 'isDone': True, "names": ()}`;
  const list = (items: object) => ({ type: "array", items });
  const finding = { properties: { ids: list({ type: "number" }), note: { type: "string" } } };
  const schema = {
    type: "object",
    properties: { findings: list(finding), isDone: { type: "boolean" }, names: list({ type: "string" }) },
  };
  const value = { findings: [{ ids: [1, 2], note: "so (or not)" }], isDone: true, names: [] };
  expect(recover(text, schema)?.value).toEqual(value);
});

test("parentheses of a text stay, whatever quotes and brackets are missing around it", () => {
  const schema = getArtifactSchema("GeneratedMessage");
  expect(recover('{"title": "of "a", (b), "c" only", "message": ""}', schema)?.value).toMatchObject({
    title: 'of "a", (b), "c" only',
  });
  expect(recover('{"title": "f(x) { g(y) } h"', schema)?.value).toMatchObject({ title: "f(x) { g(y) } h" });
});

test("every mutator that loses nothing is recovered for most outputs", () => {
  const byFault = new Map<string, number[]>();
  for (const { fault, loss, text, schema } of buildCorpus(5, 2, MUTATORS)) {
    if (loss !== "none" || fault.includes("+")) continue;
    const found = recover(text, schema) !== undefined ? 1 : 0;
    byFault.set(fault, [...(byFault.get(fault) ?? []), found]);
  }
  const weak = [...byFault].filter(([, found]) => found.filter((one) => one === 1).length * 2 < found.length);
  expect(weak.map(([fault]) => fault)).toEqual([]);
});
