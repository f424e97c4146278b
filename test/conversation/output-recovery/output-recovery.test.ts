import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ARTIFACT_TYPES, type ArtifactType } from "../../../src/apps/git/artifacts/artifact-types.ts";
import { recoverOutput, recoverValue } from "../../../src/conversation/output-recovery/recover-output.ts";
import { matchesSchema } from "../../../src/platform/json-schema/schema-validator.ts";
import { thoroughTest } from "../../support/test-depth.ts";
import { buildCorpus, getArtifactSchema, loadFurtherMutators, MUTATORS } from "./corpus.ts";
import { measure } from "./measure.ts";
import { createRandom, type JsonSchema } from "./mutator.ts";
import { writeArtifact } from "./valid-artifacts.ts";

const TYPES = Object.keys(ARTIFACT_TYPES) as ArtifactType[];
const recover = (text: string, schema: JsonSchema) => recoverOutput(text, schema, matchesSchema);

describe("measured on the corpus, Holdfast", () => {
  test("recovers more than jsonrepair and the AI SDK, with no more wrong values [IRIS-17, IRIS-18, IRIS-19]", async () => {
    const { figures } = await measure(3, 1, await loadFurtherMutators());
    const { holdfast, jsonrepair, aiSdk } = figures;
    expect(holdfast.recoveredShare).toBeGreaterThan(0.95);
    expect(holdfast.recovered).toBeGreaterThan(Math.max(jsonrepair.recovered, aiSdk.recovered));
    expect(holdfast.wrong).toBeLessThanOrEqual(Math.min(jsonrepair.wrong, aiSdk.wrong));
  });
});

thoroughTest("the table of docs/structured-output.md is what the corpus gives", async () => {
  const page = await readFile(new URL("../../../docs/structured-output.md", import.meta.url), "utf8");
  const { figures } = await measure(1, 5, []);
  const { holdfast, strict, jsonrepair, aiSdk } = figures;
  expect(page).toContain(`${figures.outputs} outputs, of which ${figures.recoverable} still say enough`);
  const rows = [...page.matchAll(/% \((\d+)\) \|[^|]*% \((\d+)\)/g)].map(([, ...counts]) =>
    counts.map(Number),
  );
  expect(rows).toEqual(
    [holdfast, strict, jsonrepair, aiSdk].map(({ recovered, wrong }) => [recovered, wrong]),
  );
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

  test.each([
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
  ])("%s", (_, text) => {
    const recovery = recover(text, schema);
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

test("texts that can be read in two ways are refused", () => {
  const schema = getArtifactSchema("GeneratedMessage");
  expect(recover('{"title": "a", "title": "b",}', schema)).toBeUndefined();
  expect(recover('[{"title": "a"}, {"title": "b"},]', schema)).toBeUndefined();
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
