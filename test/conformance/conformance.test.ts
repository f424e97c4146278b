import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";

const SCRIPT = resolve(import.meta.dirname, "../../scripts/conformance.mjs");

const REQUIREMENTS = {
  areas: [
    { area: "AAA", title: "First things" },
    { area: "BB", title: "Others" },
  ],
  requirements: [
    { id: "AAA-01", title: "One | thing", issues: [4] },
    { id: "AAA-02", title: "Two things", issues: [4] },
    { id: "AAA-02a", title: "A part", issues: [4] },
    { id: "AAA-02b", title: "Another part", issues: [4] },
    { id: "AAA-03", title: "An idea", issues: [4], needsNoTest: "not built" },
    { id: "BB-01", title: "Elsewhere", issues: [5, 6] },
    { id: "BB-02", title: "Nowhere yet", issues: [] },
  ],
};

// The titles are put together here, so that they are no titles of this file.
const called = (name: string, title: string, body = "expect(1).toBe(1);") =>
  `${name}(${title}, () => {${body}});\n`;

/** `REQUIREMENTS` with one requirement of three clauses. */
const withClauses = (more: object = {}) => ({
  ...REQUIREMENTS,
  requirements: [
    ...REQUIREMENTS.requirements,
    { id: "BB-03", title: "Several", issues: [5], clauses: ["first", "second", "a | third"], ...more },
  ],
});

/** A project with one file of tests. */
function project(
  tests: string,
  {
    finished = [] as string[],
    requirements = REQUIREMENTS as unknown,
    helpers = {} as Record<string, string>,
  } = {},
): string {
  const root = mkdtempSync(join(tmpdir(), "holdfast-conformance-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const files = {
    "test/conformance/requirements.json": JSON.stringify(requirements),
    "test/conformance/finished.json": JSON.stringify({ issuesUnderWay: [4], finishedAreas: finished }),
    "test/some/a.test.ts": tests,
    "docs/contributing/other.md": "",
    ...helpers,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Waits without blocking the process: many runs of the script take longer than a runner waits for a test file. */
async function conformance(
  root: string,
  ...flags: string[]
): Promise<{ status: number | null; stderr: string }> {
  const run = promisify(execFile)(process.execPath, [SCRIPT, "--root", root, ...flags]);
  return await run.then(
    ({ stderr }) => ({ status: 0, stderr }),
    ({ code, stderr }) => ({ status: code, stderr }),
  );
}

function written(root: string): string {
  return readFileSync(join(root, "docs/contributing/conformance.md"), "utf8");
}

function rows(root: string): string[] {
  return written(root)
    .split("\n")
    .filter((line) => /^\| [A-Z]+-\d/.test(line));
}

const NAMES_ALL = called("test", '"does it all [AAA-01, AAA-02]"');

thoroughTest(
  "the document says of each requirement what it is, who proves it, and how it stands",
  async () => {
    const root = project(
      called("describe", '"things [AAA-01]"', called("test", "`of ${kind} | sorts [AAA-02a, R7]`")) +
        called("test.each([1])", '"each " + "one (AAA-02b, design 3.1)"'),
    );
    expect(await conformance(root)).toEqual({ status: 0, stderr: "" });
    expect(rows(root)).toEqual([
      "| AAA-01 | One \\| thing | `test/some/a.test.ts`: things | proven |",
      "| AAA-02 | Two things | its parts | proven |",
      "| AAA-02a | A part | `test/some/a.test.ts`: things › of … \\| sorts | proven |",
      "| AAA-02b | Another part | `test/some/a.test.ts`: each one | proven |",
      "| AAA-03 | An idea |  | needs none: not built |",
      "| BB-01 | Elsewhere |  | another area's (issue 5, 6) |",
      "| BB-02 | Nowhere yet |  | another area's (no issue yet) |",
    ]);
    expect(written(root)).toContain("| AAA: First things | 5 | 5 | 4 | 0 | 0 | 0 | 1 |  |");
  },
);

thoroughTest("writing it twice changes nothing, and the check is content", async () => {
  const root = project(NAMES_ALL);
  await conformance(root);
  const first = written(root);
  await conformance(root);
  expect(written(root)).toBe(first);
  expect(await conformance(root, "--check")).toEqual({ status: 0, stderr: "" });
});

thoroughTest("the check fails when the document is stale or not there, and does not mend it", async () => {
  const root = project(NAMES_ALL);
  expect(await conformance(root, "--check")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/conformance\.md is not there\. What to do: npm run conformance/),
  });
  await conformance(root);
  const before = written(root);
  writeFileSync(join(root, "test/some/b.test.ts"), called("test", '"more [BB-01]"'));
  expect(await conformance(root, "--check")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /is not what the titles of the tests say\. What to do: npm run conformance/,
    ),
  });
  expect(written(root)).toBe(before);
});

thoroughTest.each([
  ["an id that there is not", "x [AAA-09]", "AAA-09"],
  ["an area that there is not", "x [CCC-01]", "CCC-01"],
  ["a part that there is not", "x (AAA-02z)", "AAA-02z"],
  ["a wrong id beside a right one", "x [AAA-01, AAA-2]", "AAA-2"],
])("a title that names %s fails, and is quoted", async (_, title, id) => {
  const root = project(called("test", JSON.stringify(title)));
  for (const flags of [[], ["--check"]]) {
    const { status, stderr } = await conformance(root, ...flags);
    expect(status).toBe(1);
    expect(stderr).toContain(
      `test/some/a.test.ts names ${id}, which is no requirement: "${title}". What to do: mend the tag`,
    );
  }
});

thoroughTest("brackets that name no ids are words", async () => {
  const root = project(called("test", '"[1,2],[3] of (UTF-8) bytes (not AAA-like) [R13]"'));
  expect(await conformance(root)).toEqual({ status: 0, stderr: "" });
});

test("a requirement of a finished area without a test fails; of another area it does not", async () => {
  const root = project(called("test", '"x [AAA-01, AAA-02a]"'), { finished: ["AAA"] });
  const { status, stderr } = await conformance(root);
  expect(status).toBe(1);
  const missing = stderr.trim().split("\n");
  expect(missing.map((line) => line.split(" ")[0])).toEqual(["AAA-02", "AAA-02b"]);
  expect(missing[1]).toBe(
    "AAA-02b (Another part) has no test, and its area is finished. What to do: put [AAA-02b] into the title of the test that proves it, or take the area out of test/conformance/finished.json.",
  );
  expect((await conformance(root, "--check")).status).toBe(1);
});

thoroughTest("a test that is skipped, planned or expected to fail proves nothing", async () => {
  const root = project(
    called("test.skip", '"x [AAA-01]"') +
      called("test.todo", '"x [AAA-01]"') +
      called("test.fails", '"x [AAA-01]"') +
      called("describe.skip", '"around"', called("test", '"x [AAA-01]"')),
    { finished: ["AAA"] },
  );
  expect((await conformance(root)).stderr).toContain("AAA-01 (One | thing) has no test");
});

thoroughTest("a test that runs only where it can proves what it names", async () => {
  const root = project(called("test.skipIf(process.platform === 'win32')", '"x [AAA-01]"'));
  await conformance(root);
  expect(rows(root)[0]).toBe("| AAA-01 | One \\| thing | `test/some/a.test.ts`: x | proven |");
});

thoroughTest("lists that contradict themselves are named", async () => {
  const [first] = REQUIREMENTS.requirements;
  const requirements = {
    ...REQUIREMENTS,
    requirements: [first, first, { id: "ZZ-01", title: "Homeless", issues: [] }],
  };
  const { status, stderr } = await conformance(project("", { finished: ["YY"], requirements }));
  expect(status).toBe(1);
  expect(stderr).toContain("has AAA-01 twice");
  expect(stderr).toContain("ZZ-01 is of no area");
  expect(stderr).toContain("names YY, which is no area");
});

thoroughTest(
  "a requirement with clauses is proven by the tests that name each of them, and has a row for each",
  async () => {
    const root = project(
      called("test", '"some [BB-03.1, AAA-01]"') +
        called("describe", '"more [BB-03.2-3]"', called("test", '"of it (BB-03.3)"')),
      { requirements: withClauses() },
    );
    expect(await conformance(root)).toEqual({ status: 0, stderr: "" });
    expect(rows(root).slice(-4)).toEqual([
      "| BB-03 | Several |  | proven |",
      "| BB-03.1 | first | `test/some/a.test.ts`: some | proven |",
      "| BB-03.2 | second | `test/some/a.test.ts`: more | proven |",
      "| BB-03.3 | a \\| third | `test/some/a.test.ts`: more; more › of it | proven |",
    ]);
    expect(written(root)).toContain("| BB: Others | 3 | 5 | 1 | 0 | 0 | 2 | 0 |  |");
  },
);

thoroughTest("the plain id of a requirement with clauses proves none of them", async () => {
  const root = project(called("test", '"all [BB-03]"') + called("test", '"one [BB-03.2]"'), {
    finished: ["BB"],
    requirements: withClauses(),
  });
  const { status, stderr } = await conformance(root);
  expect(status).toBe(1);
  const missing = stderr.trim().split("\n");
  expect(missing.map((line) => line.split(" ")[0])).toEqual(["BB-01", "BB-02", "BB-03.1", "BB-03.3"]);
  expect(missing[2]).toBe(
    "BB-03.1 (Several: first) has no test, and its area is finished. What to do: put [BB-03.1] into the title of the test that proves it, or take the area out of test/conformance/finished.json.",
  );
  expect(rows(root).slice(-4)).toEqual([
    "| BB-03 | Several | `test/some/a.test.ts`: all | in part |",
    "| BB-03.1 | first |  | no test |",
    "| BB-03.2 | second | `test/some/a.test.ts`: one | proven |",
    "| BB-03.3 | a \\| third |  | no test |",
  ]);
});

thoroughTest("a gap with its reason is accepted in a finished area, but is not called proven", async () => {
  const requirements = {
    areas: REQUIREMENTS.areas,
    requirements: withClauses({ gaps: { 3: "not built" } }).requirements.slice(-1),
  };
  const root = project(called("test", '"x [BB-03.1-2]"'), { finished: ["BB"], requirements });
  expect(await conformance(root)).toEqual({ status: 0, stderr: "" });
  expect(rows(root)).toEqual([
    "| BB-03 | Several |  | in part |",
    "| BB-03.1 | first | `test/some/a.test.ts`: x | proven |",
    "| BB-03.2 | second | `test/some/a.test.ts`: x | proven |",
    "| BB-03.3 | a \\| third |  | gap: not built |",
  ]);
});

thoroughTest.each([
  ["x [BB-03.4]", "BB-03.4"],
  ["x [BB-03.0]", "BB-03.0"],
  ["x [BB-03.2-4]", "BB-03.2-4"],
  ["x [BB-03.3-1]", "BB-03.3-1"],
  ["x (AAA-01.1)", "AAA-01.1"],
])("a title that names a clause that there is not fails: %s", async (title, word) => {
  const root = project(called("test", JSON.stringify(title)), { requirements: withClauses() });
  const { status, stderr } = await conformance(root, "--check");
  expect(status).toBe(1);
  expect(stderr).toContain(`names ${word}, which is no clause of ${word.split(".")[0]}: "${title}"`);
});

thoroughTest("clauses and gaps that contradict themselves are named", async () => {
  const requirements = withClauses({ gaps: { 1: "has a test", 4: "is not there" } });
  requirements.requirements.push({ id: "BB-04", title: "One", issues: [], clauses: ["one"] } as never);
  const { status, stderr } = await conformance(project(called("test", '"x [BB-03.1]"'), { requirements }));
  expect(status).toBe(1);
  expect(stderr).toContain("BB-03 has a gap for clause 4, which it does not have");
  expect(stderr).toContain("BB-03 has a gap for clause 1, which has a test");
  expect(stderr).toContain("BB-04 has fewer than two clauses");
});

thoroughTest("a test whose body reaches no assertion cannot prove", async () => {
  const bodies = {
    nothing: "",
    "a value without a matcher": "expect(run());",
    "a matcher without a value": "run(expect.anything());",
    "a function that asserts nothing": "quiet();",
    "a member named like one that does": "run.checkAll({ checkAll: 1 });",
    "a helper outside of test": "foreign();",
  };
  const root = project(
    'import { foreign } from "../../src/foreign.ts";\n' +
      "function quiet() { return loop(); }\nconst loop = () => quiet();\n" +
      "const checkAll = () => expect(1).toBe(1);\n" +
      called(
        "describe",
        '"around [AAA-01]"',
        called("test", '"proves"') +
          Object.entries(bodies)
            .map(([title, body]) => called("test", JSON.stringify(title), body))
            .join(""),
      ),
    { helpers: { "src/foreign.ts": "export function foreign() { expect(1).toBe(1); }" } },
  );
  const { status, stderr } = await conformance(root);
  expect(status).toBe(1);
  expect(stderr.trim().split("\n")).toEqual(
    Object.keys(bodies).map(
      (title) =>
        `test/some/a.test.ts: "${title}" names a requirement and contains no assertion, so it cannot fail. What to do: assert what it claims, or take the tag away.`,
    ),
  );
});

thoroughTest("a test whose body reaches an assertion can prove, wherever the assertion is", async () => {
  const bodies = {
    "a rejected promise": "await expect(run()).rejects.toThrow();",
    "a property": "fc.assert(fc.property(any, (x) => x));",
    "node's assert": "assert.equal(1, 1);",
    "a function of the file": "check();",
    "a function that is passed on": "each(check);",
    "a function of an imported file": "renamed();",
    "a function that an imported file exports of another": "passedOn();",
    "a namespace of an imported file": "all.deep();",
  };
  const root = project(
    'import { deep as renamed, passedOn } from "../support/help.ts";\n' +
      'import * as all from "../support/help.ts";\n' +
      "function check() { must(true); }\n" +
      Object.entries(bodies)
        .map(([title, body]) => called("test", JSON.stringify(`${title} [AAA-01]`), body))
        .join(""),
    {
      helpers: {
        "test/support/help.ts":
          'export * from "./more.ts";\nexport const deep = () => inner();\nfunction inner() { expect(1).toBe(1); }',
        "test/support/more.ts": "export function passedOn() { alike(1, 1); }",
      },
    },
  );
  expect(await conformance(root)).toEqual({ status: 0, stderr: "" });
});

thoroughTest("a test that names nothing may be as it likes", async () => {
  expect(await conformance(project(called("test", '"x"', "")))).toEqual({ status: 0, stderr: "" });
});
