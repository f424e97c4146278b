import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { insertReference } from "../../src/config/agent-file/format-reference.ts";
import { formatPublishedSchema } from "../../src/config/agent-file/json-schema.ts";
import { SCHEMA_PATH, STARTER } from "../../src/config/agent-file/starter-file.ts";
import { isSecretField } from "../../src/config/agent-file/validate-file.ts";
import { writeAgent } from "../../src/config/agent-file/write-agent.ts";
import type { SourceFormat } from "../../src/config/source/source-format.ts";
import { PARSERS } from "../../src/config/source/source-format.ts";
import { toPlainValue } from "../../src/config/source/source-node.ts";
import { load, loadDefinitions } from "../config/agent-files.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const page = read("docs/agents.md");
const stored = read("agent.schema.json");
const validates = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(stored));

function parsedValue(text: string, format: SourceFormat): unknown {
  const parsed = PARSERS[format](text);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join());
  return toPlainValue(parsed.root);
}

const examples = [
  ["starter", "toml", STARTER],
  ...[...page.matchAll(/```(toml|yaml)\n([\s\S]*?)```/g)].map(([, format, text], index) => [
    `example ${index}`,
    format!,
    text!,
  ]),
] as [string, SourceFormat, string][];

test("agent.schema.json and the reference of docs/agents.md are up to date: npm run agent-schema", () => {
  expect(stored).toBe(formatPublishedSchema());
  expect(page).toBe(insertReference(page));
});

test("the schema is in the package, where the first line of the starter file points to it", () => {
  const { exports, files } = JSON.parse(read("package.json"));
  const [name] = SCHEMA_PATH.split("/").slice(-1);
  expect(exports[`./${name}`]).toBe(`./${name}`);
  expect(files).toContain(name);
  expect(STARTER.split("\n")[0]).toBe(`#:schema ${SCHEMA_PATH}`);
});

test.each(examples)(
  "%s (%s) is an agent without a warning, and matches the schema [CFG-01.1, CFG-02]",
  (_, format, text) => {
    const { agents, problems } = load(text, {
      format,
      files: { "/home/me/project/prompts/reviewer.md": "review" },
    });
    expect(problems).toEqual([]);
    expect(agents.length).toBeGreaterThan(0);
    validates(parsedValue(text, format));
    expect(validates.errors).toBeNull();
  },
);

test("so is the starter file with its comments removed [CFG-24.1]", () => {
  const whole = STARTER.replace(
    /^# (?=(?:\[\[|workspace|base_url|name =|description|system_prompt|tools))/gm,
    "",
  );
  const { coder } = loadDefinitions(whole);
  expect(coder?.subAgents).toMatchObject([{ name: "researcher" }]);
  expect(coder?.model.baseUrl).toBe("http://127.0.0.1:8080/v1");
});

test("the written file matches the schema too", () => {
  const { coder } = loadDefinitions(STARTER);
  expect(validates(parsedValue(writeAgent(coder!, "toml"), "toml"))).toBe(true);
});

test.each([
  ['[provider]\napi_key = "sk-1"'],
  ['[provider]\napi = "custom-x"'],
  ["[agent]\nfallbacks = [3]"],
  ["[provider]\nmodle = 1"],
  ["[execution]\nmax_turns = 0"],
  ['[agent.profile]\nthinking_level = "extreme"'],
])("the schema rejects %s", (text) => {
  expect(validates(parsedValue(text, "toml"))).toBe(false);
});

test("a secret is a key or a header, wherever a provider is specified [CFG-15.3]", () => {
  expect(
    [
      ["provider", "api_key"],
      ["provider", "instances", 0, "headers", "X"],
      ["agent", "instances", 0, "provider", "api_key"],
      ["agent", "fallbacks", 0, "headers", "X"],
    ].every(isSecretField),
  ).toBe(true);
  expect(isSecretField(["provider", "model"])).toBe(false);
});
