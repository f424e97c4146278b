import { readFileSync, writeFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { PARSERS } from "../../../src/config/source/source-format.ts";
import { toPlainValue } from "../../../src/config/source/source-node.ts";
import { formatSuiteSchema, insertSuiteReference } from "../../../src/config/suite-file/suite-schema-file.ts";
import { checkDescriptions } from "../../support/property-descriptions.ts";

const file = new URL("../../../suite.schema.json", import.meta.url);
if (process.env["WRITE"]) writeFileSync(file, formatSuiteSchema());
const stored = readFileSync(file, "utf8");
const validates = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(stored));

function accepts(text: string): boolean {
  const parsed = PARSERS.toml(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join());
  return validates(toPlainValue(parsed.root));
}

test("suite.schema.json is up to date: npm run agent-schema", () => {
  expect(stored).toBe(formatSuiteSchema());
});

test("every property of suite.schema.json has a description", () => {
  const { all, bare } = checkDescriptions(JSON.parse(stored) as object);
  expect(all.length).toBeGreaterThan(100);
  expect(bare).toEqual([]);
});

test("the schema accepts a suite and rejects mistakes", () => {
  const suite =
    'name = "s"\nagents = ["a.toml"]\ncases = "c.jsonl"\n[[scorers]]\ntype = "exact"\nignore_case = true\n';
  expect(accepts(suite)).toBe(true);
  expect(accepts(`${suite}trimm = true\n`)).toBe(false);
  expect(accepts(suite.replace("exact", "exactly"))).toBe(false);
  expect(accepts(`repetition = 3\n${suite}`)).toBe(false);
  expect(accepts('name = "s"\ncases = "c.csv"\n[matrix]\nagent = "a.toml"\ntemperature = [0, 1]\n')).toBe(
    true,
  );
});

test("the reference describes the suite, its cases, each scorer and the matrix", () => {
  const page = insertSuiteReference(
    "<!-- reference: written by scripts/agent-schema.mjs -->\n<!-- reference: end -->\n",
  );
  for (const heading of [
    "### `[[cases]]`",
    "### `[[scorers]]`",
    '#### `type = "edit-distance"`',
    "### `[matrix]`",
  ])
    expect(page).toContain(`\n${heading}\n`);
  expect(page).toContain("| `cases` | ");
  expect(page).toContain("| `temperature` | a number from 0 to 2, or a list of these |");
});
