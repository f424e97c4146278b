import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { anthropic, defineSuite, type LoadedSuite } from "../../src/client/index.ts";
import { formatSuiteSchema, insertSuiteReference } from "../../src/config/suite-file/suite-schema-file.ts";
import { Scorer } from "../../src/schema/scorer.ts";
import { runHoldfast } from "../cli/terminal.ts";
import { AGENT, listCases, readSound } from "../config/suite-file/suite-files.ts";

const page = readFileSync(new URL("../../docs/evaluation.md", import.meta.url), "utf8");
const suites = page.slice(page.indexOf("\n## Suites"), page.indexOf("<!-- reference: written"));

function listBlocks(language: string): readonly string[] {
  return [...suites.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, text = ""]) => text,
  );
}

/** Lists the first cells of the table that begins with a head. */
function listFirstCells(head: string): readonly string[] {
  const [, table = ""] = new RegExp(`^\\| ${head} .*\\n((?:\\|.*\\n)+)`, "m").exec(suites) ?? [];
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, cell = ""]) => cell);
}

function readSuiteOfPage(text: string): Promise<LoadedSuite> {
  return readSound({
    "suite.toml": text,
    "small.toml": AGENT,
    "large.toml": AGENT,
    "agent.toml": AGENT,
    "cases.jsonl": '{"input":"x"}\n',
  });
}

test("every suite file of docs/evaluation.md is one", async () => {
  const files = listBlocks("toml");
  expect(files).toHaveLength(3);
  const read = await Promise.all(files.map(readSuiteOfPage));
  expect(read.map(({ configurations }) => configurations.length)).toEqual([2, 4, 1]);
});

test("the suite in code of docs/evaluation.md is that of its first file", async () => {
  const [code = ""] = listBlocks("ts");
  const { outputText } = ts.transpileModule(code.replace(/^import .*$/m, ""), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const started: LoadedSuite[] = [];
  const run = { result: () => undefined, report: () => ({}) };
  const evaluations = {
    start: (suite: LoadedSuite) => {
      started.push(suite);
      return run;
    },
  };
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  await AsyncFunction(
    "anthropic",
    "connect",
    "defineSuite",
    outputText,
  )(anthropic, () => ({ evaluations }), defineSuite);
  const [inCode] = started;
  const inFile = await readSuiteOfPage(listBlocks("toml")[0]!);
  const describe = ({ name, repetitions, configurations, scorers }: LoadedSuite) => ({
    ...{ name, repetitions, scorers },
    configurations: configurations.map((one) => one.name),
  });
  expect(describe(inCode!)).toEqual(describe(inFile));
  expect(await listCases(inCode!)).toEqual(await listCases(inFile));
});

test("the table of docs/evaluation.md lists every scorer", () => {
  expect(listFirstCells("type").toSorted()).toEqual(
    Scorer.options.map(({ shape }) => shape.type.value).toSorted(),
  );
});

test("the table of docs/evaluation.md lists every command of holdfast eval, and its flags exist", async () => {
  const commands = listFirstCells("command").map((cell) => /^holdfast eval (\S+)/.exec(cell)?.[1] ?? cell);
  const { out } = await runHoldfast(["eval", "--help"]);
  const [, listed = ""] = /\nCommands:\n([\s\S]*?)\n\n/.exec(out) ?? [];
  const known = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = ""]) => name);
  expect(commands.toSorted()).toEqual(known.filter((name) => name !== "help").toSorted());
  const help = await Promise.all(
    known.map(async (name) => (await runHoldfast(["eval", name, "--help"])).out),
  );
  const flags = new Set([...suites.matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag));
  expect(flags.size).toBeGreaterThan(10);
  for (const flag of flags) expect(`${help.join("\n")} --help --json`).toContain(flag);
});

test("the reference of docs/evaluation.md is up to date: npm run agent-schema", () => {
  expect(formatSuiteSchema()).toContain("A suite file of Holdfast");
  expect(page).toBe(insertSuiteReference(page));
});
