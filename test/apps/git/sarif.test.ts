import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { Finding, Review } from "../../../src/apps/git/artifacts/review.ts";
import { buildSarif } from "../../../src/apps/git/output/sarif.ts";

// The rules of the official schema, sarif-schema-2.1.0.json, for the objects that Holdfast writes.

const text = {
  type: "object",
  required: ["text"],
  additionalProperties: false,
  properties: { text: { type: "string" } },
};
const bag = { type: "object" };
const closed = (properties: object, ...required: string[]) => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});
const artifactLocation = closed({
  // A URI reference: no blank, no character that needs an escape, no backslash.
  uri: { type: "string", pattern: "^(?:[A-Za-z0-9\\-._~!$&'()*+,;=@/]|%[0-9A-F]{2})+$" },
  uriBaseId: { type: "string" },
});
const region = closed({
  startLine: { type: "integer", minimum: 1 },
  endLine: { type: "integer", minimum: 1 },
});
const result = closed(
  {
    ruleId: { type: "string" },
    ruleIndex: { type: "integer", minimum: -1 },
    level: { enum: ["none", "note", "warning", "error"] },
    message: text,
    locations: {
      type: "array",
      items: closed({ physicalLocation: closed({ artifactLocation, region }, "artifactLocation") }),
    },
    partialFingerprints: { type: "object", additionalProperties: { type: "string" } },
    rank: { type: "number", minimum: -1, maximum: 100 },
    properties: bag,
  },
  "message",
);
const rule = closed({ id: { type: "string" }, shortDescription: text }, "id");
const driver = closed(
  {
    name: { type: "string" },
    version: { type: "string" },
    rules: { type: "array", uniqueItems: true, items: rule },
  },
  "name",
);
const run = closed(
  {
    tool: closed({ driver }, "driver"),
    columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
    originalUriBaseIds: {
      type: "object",
      additionalProperties: closed({ description: text, uri: { type: "string" } }),
    },
    results: { type: "array", items: result },
    properties: bag,
  },
  "tool",
);
const isLog = new Ajv({ strict: false }).compile(
  closed(
    { $schema: { type: "string" }, version: { enum: ["2.1.0"] }, runs: { type: "array", items: run } },
    "version",
    "runs",
  ),
);

const finding = (fields: Partial<Finding> = {}) =>
  Finding.parse({
    id: "F1",
    severity: "low",
    confidence: 70,
    file: "src/a.ts",
    start_line: 3,
    end_line: 4,
    category: "style",
    body: "Body",
    ...fields,
  });
const build = (findings: readonly Finding[], readLines?: (one: Finding) => string | undefined) => {
  const review = Review.parse({ summary: "s", findings });
  const log = buildSarif({ review }, { version: "1.2.3", ...(readLines === undefined ? {} : { readLines }) });
  expect(isLog(log), JSON.stringify(isLog.errors)).toBe(true);
  return log.runs[0];
};
const print = (...args: Parameters<typeof build>) =>
  build(...args)?.results.map(({ partialFingerprints }) => partialFingerprints["holdfastFinding/v1"]);

test("a finding is a result with a level, a rule, and a place within the repository", () => {
  const run = build([
    finding({ severity: "critical", category: "security", suggested_fix: "Do not." }),
    ...(["high", "medium", "low", "info"] as const).map((severity) => finding({ severity })),
  ]);
  expect(run?.results.map(({ level }) => level)).toEqual(["error", "error", "warning", "note", "note"]);
  expect(run?.tool.driver.rules.map(({ id }) => id)).toEqual(["security", "style"]);
  expect(run?.results.map(({ ruleId, ruleIndex }) => [ruleId, ruleIndex]).slice(0, 2)).toEqual([
    ["security", 0],
    ["style", 1],
  ]);
  expect(run?.results[0]).toMatchObject({
    message: { text: "Body\n\nSuggested fix:\nDo not." },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: "src/a.ts", uriBaseId: "%SRCROOT%" },
          region: { startLine: 3, endLine: 4 },
        },
      },
    ],
  });
  expect(build([])?.results).toEqual([]);
});

test.each([
  ["a b/ü#?.ts", "a%20b/%C3%BC%23%3F.ts"],
  ["c:d", "c%3Ad"],
  ["a\\b\n\ud800", "a%5Cb%0A%EF%BF%BD"],
])("the path %j is a URI", (file, uri) => {
  const [location] = build([finding({ file })])?.results[0]?.locations ?? [];
  expect(location?.physicalLocation.artifactLocation.uri).toBe(uri);
  expect(decodeURIComponent(uri).replace("\ufffd", "\ud800")).toBe(file);
});

test.each(["../a", "/etc/passwd", "a//b", "./a"])("the path %s is no place within the repository", (file) => {
  expect(build([finding({ file })])?.results[0]?.locations).toEqual([]);
});

test("a fingerprint stays when the model says it otherwise and the lines move, and no two are equal", () => {
  const readLines = () => "if (x) {\n  y();";
  const first = print([finding(), finding()], readLines);
  const second = print(
    [finding({ id: "X", body: "Other words", start_line: 90, end_line: 91, confidence: 10 }), finding()],
    () => "if (x) {\n    y();\n",
  );
  expect(second).toEqual(first);
  expect(new Set(first).size).toBe(2);
  const others = [finding({ file: "b.ts" }), finding({ category: "testing" })];
  expect(new Set([...(print(others, readLines) ?? []), ...(first ?? [])]).size).toBe(4);
  expect(print([finding()])).not.toEqual(print([finding({ start_line: 1 })]));
});
