import { expect, test } from "vitest";
import { readLines } from "../../../src/config/suite-file/read-lines.ts";
import { isThorough } from "../../support/test-depth.ts";
import { AGENT, listCases, read, readSound } from "./suite-files.ts";

const suite = (cases: string) => `name = "s"\nagents = ["agent.toml"]\ncases = "${cases}"\n`;

/** Checks the cases of a file. */
async function check(name: string, text: string, others: Readonly<Record<string, string>> = {}) {
  const files = { "suite.toml": suite(name), "agent.toml": AGENT, [name]: text, ...others };
  const sound = await readSound(files);
  const { count, problems } = await sound.checkCases();
  return {
    count,
    lines: problems.map(({ file, line, column, field, message }) => ({ file, line, column, field, message })),
  };
}

const listOf = async (name: string, text: string, others: Readonly<Record<string, string>> = {}) =>
  listCases(await readSound({ "suite.toml": suite(name), "agent.toml": AGENT, [name]: text, ...others }));

test("a line of JSON is a case, with all that a case can have", async () => {
  const line = {
    id: 7,
    input: ["one", "two"],
    files: { "a.txt": "text", "b/c.txt": { from: "data/c.txt" } },
    fork: { session: "s1", turn: 2 },
    expected: { x: 1 },
    metadata: { level: 3 },
    tags: ["hard"],
  };
  expect(await listOf("sub/cases.jsonl", JSON.stringify(line), { "sub/data/c.txt": "from a file" })).toEqual([
    {
      id: "7",
      messages: ["one", "two"],
      files: { "a.txt": "text", "b/c.txt": "from a file" },
      fork: { session: "s1", turn: 2 },
      expected: { x: 1 },
      metadata: { level: 3, tags: ["hard"] },
    },
  ]);
});

test("a byte order mark, CRLF, empty lines and the line separators of Unicode are no trouble", async () => {
  const text = '\uFEFF{"id":"a","input":"x\u2028y"}\r\n\r\n{"id":"b","input":"z"}\r\n';
  expect(await listOf("c.jsonl", text)).toEqual([
    { id: "a", messages: ["x\u2028y"] },
    { id: "b", messages: ["z"] },
  ]);
});

test("a case without an id is named by its content, so that its place in the file does not matter", async () => {
  const first = await listOf("c.jsonl", '{"input":"x"}\n{"input":"y"}\n{"input":"x"}\n{"input":"x"}');
  const second = await listOf("c.jsonl", '{"input":"y","expected":1}\n{"input":"x"}');
  const [x, y] = first.map(({ id }) => id);
  expect(x).toMatch(/^case-[0-9a-f]{15}$/);
  expect(first.map(({ id }) => id)).toEqual([x, y, `${x}-2`, `${x}-3`]);
  expect(second.map(({ id }) => id)).toEqual([y, x]);
});

test("each invalid line is reported with its place, and does not end the check", async () => {
  const text = [
    '{"id":"a","input":"x"}',
    '{"id":"b","input":3}',
    '{"id":"a","input":"y"}',
    '{"id":"c", input:"y"}',
    '{"id":"d","inptu":"y","input":"z"}',
    '{"id":"e"}',
    '{"id":"f","input":"x","files":{"../g":"h"}}',
    '{"id":"g","input":"x","files":{"h":{"from":"none.txt"}}}',
    '{"id":"h","input":"x","tags":["t"],"metadata":{"tags":1}}',
    '["x"]',
    '{"id":"z","input":"x"}',
  ].join("\n");
  const { count, lines } = await check("c.jsonl", text);
  const file = "c.jsonl";
  expect(count).toBe(2);
  expect(lines).toEqual([
    { file, line: 2, column: 19, field: "input", message: "must be a text or a list, not 3" },
    { file, line: 3, column: 7, field: "id", message: 'another case before has the id "a"' },
    { file, line: 4, column: 12, field: undefined, message: expect.stringMatching(/^This is not JSON: /) },
    { file, line: 5, column: 11, field: "inptu", message: 'unknown key; did you mean "input"?' },
    {
      file,
      line: 6,
      column: 1,
      field: "input",
      message: "is missing; it must be a text, or a list of texts",
    },
    {
      file,
      line: 7,
      column: 39,
      field: 'files."../g"',
      message: "has a key that is not allowed: it must be a relative path within the workspace",
    },
    {
      file,
      line: 8,
      column: 44,
      field: "files.h.from",
      message: "none.txt cannot be read: there is no such file",
    },
    { file, line: 9, column: 30, field: "tags", message: expect.stringMatching(/^stands twice/) },
    {
      file,
      line: 10,
      column: expect.any(Number),
      field: undefined,
      message: "must be an object, not a list",
    },
  ]);
});

test("reading the cases of a run ends at the first invalid one", async () => {
  const sound = await readSound({
    "suite.toml": suite("c.jsonl"),
    "agent.toml": AGENT,
    "c.jsonl": '{"id":"a","input":"x"}\n{"id":"a","input":"y"}\n',
  });
  await expect(listCases(sound)).rejects.toThrow(
    'c.jsonl:2:7: error: id: another case before has the id "a"',
  );
});

test("columns of CSV are the fields of a case, and others are metadata", async () => {
  const text = 'id,input,expected,level\r\n1,"What is\r\n1, or ""one""?",one,easy\r\n2,Two?,,\r\n';
  expect(await listOf("c.csv", text)).toEqual([
    { id: "1", messages: ['What is\r\n1, or "one"?'], expected: "one", metadata: { level: "easy" } },
    { id: "2", messages: ["Two?"] },
  ]);
});

test.each([
  ["", 1, "the file is empty: its first line names its columns"],
  ["question,answer\n", 1, 'the first line must name a column "input"; it names question, answer'],
  [
    "id;input\n",
    1,
    'the first line must name a column "input"; it names id;input: separate the columns with commas',
  ],
  ["input,input\n", 1, 'the column "input" stands twice'],
  ["id,input\na,b\nc\n", 3, "this record has 1 fields, and the first line names 2 columns"],
  ["id,input\na,x\na,y\n", 3, 'another case before has the id "a"'],
  ['id,input\na,"x\n', 2, "the closing quote of a field is missing"],
])("the CSV %j has a problem on line %i", async (text, line, message) => {
  expect((await check("c.csv", text)).lines).toMatchObject([{ file: "c.csv", line, message }]);
});

test.each([
  ["an array", 'export default [{ id: "a", input: "x" }, { id: "b", input: "y" }];'],
  ["an iterable", 'export default new Set([{ id: "a", input: "x" }, { id: "b", input: "y" }]);'],
  ["a function", 'export default () => [{ id: "a", input: "x" }, { id: "b", input: "y" }];'],
  [
    "an async generator",
    'export default async function* () { yield { id: "a", input: "x" }; yield { id: "b", input: "y" }; }',
  ],
])("a module exports cases as %s", async (_, text) => {
  const sound = await readSound({ "suite.toml": suite("c.mjs"), "agent.toml": AGENT, "c.mjs": text });
  for (const _reading of [1, 2]) expect((await listCases(sound)).map(({ id }) => id)).toEqual(["a", "b"]);
});

test.each([
  ["export default 3;", undefined, "the cases must be an array, an iterable, or a function that returns one"],
  [
    "export const cases = [];",
    undefined,
    "the cases must be an array, an iterable, or a function that returns one",
  ],
  ["throw new Error('broken');", undefined, "it cannot be imported: broken"],
  ['export default [{ input: "x" }, { input: 1 }];', "[1].input", "must be a text or a list, not 1"],
  [
    'export default function* () { yield { input: "x" }; throw new Error("lost"); }',
    undefined,
    "case 2 cannot be read: lost",
  ],
  ["export default [];", undefined, "the suite has no cases"],
])("the module %j has a problem", async (text, field, message) => {
  expect((await check("c.mjs", text)).lines).toMatchObject([{ file: "c.mjs", field, message }]);
});

test("an iterator that was read says so, instead of giving no cases", async () => {
  const text = 'export default (function* () { yield { id: "a", input: "x" }; })();';
  const sound = await readSound({ "suite.toml": suite("c.mjs"), "agent.toml": AGENT, "c.mjs": text });
  expect((await listCases(sound)).length).toBe(1);
  await expect(listCases(sound)).rejects.toThrow("give a function that returns them");
});

/** The lines of a file that no reader should hold as a whole. */
const MANY_LINES = isThorough ? 100_000 : 10_000;

test("a file of many cases is read as far as it is asked for", async () => {
  const lines = MANY_LINES;
  let read = 0;
  let held = 0;
  async function* chunks() {
    for (let line = 0; line < lines; line += 1) {
      read += 1;
      yield `{"input":"${line}"}\n`;
    }
  }
  let taken = 0;
  for await (const { line } of readLines(chunks())) {
    taken = line;
    held = Math.max(held, read - taken);
  }
  expect(taken).toBe(lines);
  expect(held).toBe(0);
});

test("cases of a module are taken one by one, so that an endless source is no trouble", async () => {
  const text =
    "export let taken = 0;\nexport default function* () { for (;;) yield { input: String(taken++) }; }";
  const sound = await readSound({ "suite.toml": suite("c.mjs"), "agent.toml": AGENT, "c.mjs": text });
  let count = 0;
  for await (const { messages } of sound.cases()) {
    expect(messages).toEqual([String(count)]);
    count += 1;
    if (count === 1000) break;
  }
  expect(count).toBe(1000);
});

test("a file of many lines gives its first cases before its last line is read", async () => {
  const lines = Array.from({ length: MANY_LINES }, (_, index) => `{"input":"${index}"}`);
  const text = [...lines, "broken"].join("\n");
  const sound = await readSound({ "suite.toml": suite("c.jsonl"), "agent.toml": AGENT, "c.jsonl": text });
  let count = 0;
  for await (const _case of sound.cases()) {
    count += 1;
    if (count === 10) break;
  }
  expect(count).toBe(10);
  const check = await sound.checkCases();
  expect(check).toMatchObject({ count: MANY_LINES, problems: [{ line: MANY_LINES + 1 }] });
});

test.each([
  [
    "cases.json",
    "cases.json has none of the extensions .jsonl, .csv, .mjs, .js and .cjs: write one case a line, and name the file .jsonl",
  ],
  ["none.jsonl", "none.jsonl cannot be read: there is no such file"],
  ["sub.csv", "sub.csv cannot be read: it is a folder"],
])("cases = %j is a problem of the suite file", async (name, message) => {
  const { problems } = await read({
    "suite.toml": suite(name),
    "agent.toml": AGENT,
    "cases.json": "[]",
    "sub.csv/x": "",
  });
  expect(problems).toEqual([`suite.toml:3:9: error: cases: ${message}`]);
});
