import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { sanitiseText } from "../../src/tools/sources/sanitise-text.ts";
import { readFrontMatter } from "../../src/tools/sources/skills/read-front-matter.ts";
import { readSkillText, splitTools } from "../../src/tools/sources/skills/read-skill-text.ts";
import { formatSkillProblem } from "../../src/tools/sources/skills/skill-problem.ts";
import { anyCodePoint } from "../support/any-code-point.ts";
import { anyGrapheme } from "../support/any-grapheme.ts";

const read = (text: string, folder = "git") => readSkillText(text, "SKILL.md", folder);
const said = (text: string, folder?: string) => read(text, folder).problems.map(formatSkillProblem);
const front = (yaml: string) => `---\n${yaml}\n---\nDo it.\n`;
const GOOD = "name: git\ndescription: Works with git.";

describe("a SKILL.md", () => {
  test("with all keys is read without problems [SKL-01.1, SKL-01.4, SKL-02.2]", () => {
    const yaml = `${GOOD}\nlicense: MIT\ncompatibility: Needs git.\nmetadata:\n  author: me\n  version: "1.0"\nallowed-tools: Bash(git add:*) Read`;
    expect(read(front(yaml))).toEqual({
      skill: {
        name: "git",
        description: "Works with git.",
        allowedTools: ["Bash(git add:*)", "Read"],
        body: "Do it.",
      },
      problems: [],
    });
  });

  test("may have a BOM, Windows line breaks, quotes and folded texts [SKL-02.1-2]", () => {
    const { skill, problems } = read(
      `\uFEFF---\r\nname: "git"\r\ndescription: >-\r\n  Works\r\n  with git.\r\n--- \r\nDo it.\r\n`,
    );
    expect(problems).toEqual([]);
    expect(skill).toMatchObject({ name: "git", description: "Works with git.", body: "Do it." });
  });

  test.each([
    ["name: git\n", "invalid-frontmatter", "SKILL.md:1: error: the first line must be ---"],
    ["\n---\nname: git\n---\n", "invalid-frontmatter", "SKILL.md:1: error: the first line must be ---"],
    ["---\nname: git\n ---\n", "invalid-frontmatter", "SKILL.md:1: error: no second line --- closes"],
    [front("description: d"), "missing-field", "SKILL.md:1: error: name: name is missing"],
    [front("name: git"), "missing-field", "SKILL.md:1: error: description: description is missing"],
    [
      front("name: git\ndescription: '  '"),
      "missing-field",
      "SKILL.md:1: error: description: description is missing",
    ],
    [front(""), "missing-field", "SKILL.md:1: error: name: name is missing"],
    [
      front(`name: git\ndescription: ${"d".repeat(20_000)}`),
      "invalid-frontmatter",
      "at most 16384 are allowed",
    ],
  ])("is skipped: %j [SKL-02.1-2]", (text, fault, words) => {
    const { skill, problems } = read(text);
    expect(skill).toBeUndefined();
    expect(problems[0]).toMatchObject({ fault, severity: "error" });
    expect(formatSkillProblem(problems[0]!)).toContain(words);
  });

  test.each([
    ["name: Git\ndescription: d", 'SKILL.md:2: error: name: "Git" may contain only lowercase letters'],
    [
      "name: git--hub\ndescription: d",
      'SKILL.md:2: error: name: "git--hub" may not begin or end with a hyphen',
    ],
    [
      "name: other\ndescription: d",
      'SKILL.md:2: error: name: "other" must be the name of its folder, which is "git"',
    ],
    ["description: d\nname: 12", "SKILL.md:3: error: name: it must be text: put 12 in quotes"],
    [`${GOOD}\ncompatibility: ${"c".repeat(501)}`, "SKILL.md:4: error: compatibility: it has 501 characters"],
    [`${GOOD}\nlicense: [MIT]`, "SKILL.md:4: error: license: it must be text"],
    [
      `${GOOD}\nmetadata:\n  version: 1.0`,
      "SKILL.md:5: error: metadata.version: it must be text: put 1.0 in quotes",
    ],
    [`${GOOD}\nmetadata: x`, "SKILL.md:4: error: metadata: it must be a table of texts"],
    [`${GOOD}\nallowed-tools: [Bash, 1]`, "SKILL.md:4: error: allowed-tools: it must be text"],
    [
      `${GOOD}\nlicence: MIT`,
      'SKILL.md:4: warning: licence: the format does not define this key; did you mean "license"?',
    ],
    [
      `${GOOD}\nhooks: x`,
      "SKILL.md:4: warning: hooks: the format does not define this key; put your own keys under metadata",
    ],
    [`${GOOD}\nname: git`, "SKILL.md:4: error: this is not YAML: Map keys must be unique"],
  ])("is loaded nevertheless, and the problem is reported with its line: %j [SKL-02.3]", (yaml, line) => {
    expect(read(front(yaml)).skill).toBeDefined();
    expect(said(front(yaml))).toContainEqual(expect.stringContaining(line));
  });

  test("that is not YAML is read line by line for its name and description [SKL-02.2]", () => {
    const { skill, problems } = read(
      front('name: "git"\ndescription: Use this: when it rains\nlicense: MIT'),
    );
    expect(skill).toMatchObject({ name: "git", description: "Use this: when it rains" });
    expect(problems).toMatchObject([{ fault: "invalid-frontmatter", line: 3 }]);
  });

  test("with an overlong description has the beginning of it in the prompt [SKL-05.1]", () => {
    const { skill } = read(front(`name: git\ndescription: ${"😀".repeat(600)}`));
    expect(skill?.description).toBe(`${"😀".repeat(511)}…`);
  });

  test("does not bring control characters into the prompt, nor a name of several lines [SKL-05.2]", () => {
    expect(read(front('name: git\ndescription: "a\\e[31mb"')).skill?.description).toBe("a [31mb");
    expect(read(front('name: "a\\nb"\ndescription: d')).skill).toBeUndefined();
    expect(read(front(`name: ${"n".repeat(65)}\ndescription: d`)).skill).toBeUndefined();
  });

  test("does not bring invisible characters into the prompt [SKL-05.2]", () => {
    const { skill } = read(front('name: "gi\u202Et"\ndescription: "Works.\\U000E0041\\u200B with git."'));
    expect(skill).toMatchObject({ name: "git", description: "Works. with git." });
  });

  test("whose front matter is designed to be costly is read quickly, or not at all", () => {
    const bomb = `a: &a [x,x]\n${Array.from({ length: 9 }, (_, n) => `b${n}: &b${n} [*a,*a,*a]`).join("\n")}`;
    expect(read(front(`${GOOD}\n${bomb}`)).skill).toBeDefined();
    expect(read(front(`${GOOD}\nx: ${"[".repeat(8000)}`)).skill).toBeDefined();
    expect(read(front(`${GOOD}\nname: &n git\nlicense: *n`)).skill).toBeDefined();
    const keys = Array.from({ length: 2000 }, (_, n) => `k${n}: `).join("\n");
    expect(read(front(`${GOOD}\n${keys}`)).problems).toHaveLength(2000);
  });
});

test("any name, description and body, written as YAML, is read back [SKL-02.2]", () => {
  const line = fc
    .string({ unit: anyGrapheme, minLength: 1, maxLength: 200 })
    .filter((text) => !/\p{Cc}/u.test(text) && sanitiseText(text, Number.POSITIVE_INFINITY) === text);
  const name = fc.stringMatching(/^[a-z0-9]([a-z0-9]|-[a-z0-9]){0,20}$/);
  const body = fc.string({ unit: anyGrapheme, maxLength: 200 }).filter((text) => !/[\r]/.test(text));
  fc.assert(
    fc.property(name, line, line, body, (called, description, license, text) => {
      fc.pre(description.trim() !== "" && license.trim() !== "");
      const yaml = stringify({ name: called, description, license, metadata: { a: license } });
      const { skill, problems } = read(`---\n${yaml}---\n${text}`, called);
      expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(skill).toMatchObject({ name: called, description: description.trim(), body: text.trim() });
    }),
  );
});

test("no text makes the reader throw, and every problem has an existing line [SKL-02.1]", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "---\n",
      "name: a\n",
      "description: b\n",
      "metadata:\n  x: 1\n",
      "? [a]\n: b\n",
      "<<: *x\n",
      "- a\n",
    ),
    fc.constantFrom(
      "allowed-tools: ",
      "!!js/function x",
      "&a ",
      "*a",
      "|\n",
      '"',
      "'",
      "{",
      "[",
      "\t",
      "\r",
      "\0",
    ),
    fc.string({ unit: anyCodePoint, maxLength: 20 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = `---\n${pieces.join("")}`;
      const { skill, problems } = read(text);
      const lines = text.split(/\r\n|\r|\n/).length;
      for (const { line = 1 } of problems)
        expect(line >= 1 && line <= lines, `${line} of ${lines}`).toBe(true);
      if (skill !== undefined) expect(skill.name.length * skill.description.length).toBeGreaterThan(0);
      const front = readFrontMatter(text);
      if (front.ok) expect(text.replace(/\r\n?/g, "\n").endsWith(front.body)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("tools are split where no bracket is open [SKL-01.4]", () => {
  expect(splitTools("Bash(git add:*), Read  Bash(x y")).toEqual(["Bash(git add:*)", "Read", "Bash(x y"]);
  expect(splitTools(" Bash (git:*) Read")).toEqual(["Bash (git:*) Read"]);
  expect(splitTools("Bash(a (b):*)")).toEqual(["Bash(a (b):*)"]);
});
