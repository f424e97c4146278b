import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addAgentName,
  cleanTitle,
  deriveTitle,
  MAX_DERIVED_TITLE_CHARS,
  truncateAtWord,
} from "../../src/platform/text/title.ts";
import { must } from "../support/must.ts";

describe("the title of a session comes from the first words of its first prompt", () => {
  test.each([
    ["Make the tests pass", "Make the tests pass"],
    ["Make the tests pass.", "Make the tests pass"],
    ["Why does the build fail?", "Why does the build fail?"],
    ["Make the tests pass. Then tell me what you changed.", "Make the tests pass"],
    ["Hi. Please make the tests pass. Thanks.", "Hi. Please make the tests pass"],
    ["Use e.g. Vitest for the tests. Not Jest.", "Use e.g. Vitest for the tests"],
    ["Upgrade to v2.1 of the client\nand run the tests", "Upgrade to v2.1 of the client"],
    ["\n\n   \n  Second line\t first  \n", "Second line first"],
    ["修复测试。然后告诉我。", "修复测试。然后告诉我。"],
    ["请帮我修复所有失败的单元测试。然后告诉我。", "请帮我修复所有失败的单元测试。"],
  ])("%j becomes %j", (text, title) => expect(deriveTitle(text)).toBe(title));

  test.each([
    ["# Task\n\nDo it", "Task"],
    ["> **Fix** the `login` form", "Fix the login form"],
    ["- [ ] Write _all_ the docs", "Write all the docs"],
    ["1. First step", "First step"],
    ["See [the issue](https://example.com/1) and ![a picture](x.png)", "See the issue and a picture"],
    ["```ts\nconst a = 1;\n```", "const a = 1"],
    ["<task>\nMove the file\n</task>", "Move the file"],
    ["<task>Move the file</task>", "Move the file"],
    ["<!-- hidden -->Visible", "Visible"],
    ["---\nAfter a rule", "After a rule"],
    ["Rename snake_case_name and a * b * c", "Rename snake_case_name and a * b * c"],
  ])("without Markdown: %j becomes %j", (text, title) => expect(deriveTitle(text)).toBe(title));

  test("a long line ends at a word, with an ellipsis", () => {
    const title = deriveTitle(
      "Look at every file of the repository and tell me which of them nobody imports any more, please",
    );
    expect(title).toBe("Look at every file of the repository and tell me which of…");
    expect(deriveTitle("x".repeat(100))).toBe(`${"x".repeat(59)}…`);
    expect(deriveTitle(`${"word ".repeat(11)}ends`)).toHaveLength(59);
  });

  test("nothing controls a terminal, and nothing that looks like a key remains", () => {
    expect(deriveTitle("Red \u001b[31malert\u0007 \u202eback\u200b now")).toBe("Red [31malert back now");
    expect(deriveTitle("Use sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA to log in")).toBe(
      "Use *** to log in",
    );
    expect(cleanTitle("  two\n lines\u0000 ")).toBe("two lines");
  });

  test.each(["", "   \n ", "---", "!!! ???", "\u0000\u001b"])("%j has no title", (text) =>
    expect(deriveTitle(text)).toBeUndefined(),
  );

  test("an agent's name stands in front of its task", () => {
    expect(addAgentName("reviewer", "Check the diff")).toBe("reviewer · Check the diff");
    expect(addAgentName("reviewer", undefined)).toBe("reviewer");
    const long = addAgentName(
      "a name that is much too long for a list",
      "Look at every file of the repository",
    );
    expect([...long].length).toBeLessThanOrEqual(MAX_DERIVED_TITLE_CHARS);
    expect(long).toMatch(/^a name that is much too long… · Look at/);
  });
});

/** Characters on which the rules act, and those of several planes and scripts. */
const TEXT = fc
  .array(
    fc.constantFrom(
      ..." ab.?!。·-*_`#>[](){}|<>/1\n\r\t\u0000\u001b\u202e\u200d\ufe0f\u0301",
      "👩‍💻",
      "\ud83d",
      "\udc00",
      "word",
      "e.g.",
    ),
    {
      maxLength: 150,
    },
  )
  .map((parts) => parts.join(""));

test("any text: at most sixty characters on one line, whole characters, and the same again", () => {
  fc.assert(
    fc.property(TEXT, (text) => {
      const title = deriveTitle(text);
      if (title === undefined) return;
      must(title !== "" && [...title].length <= MAX_DERIVED_TITLE_CHARS, title);
      must(!/[\p{Cc}\p{Cs}]|^\s|\s$/u.test(title), title);
      must(truncateAtWord(title, MAX_DERIVED_TITLE_CHARS) === title, title);
    }),
  );
});

test("a text without a blank costs no more than its length", () => {
  for (const character of ["*", "_", "[", "`", "<a ", "- ", ".", "|", "1. "])
    expect(deriveTitle(character.repeat(1_000_000))?.length ?? 0).toBeLessThanOrEqual(60);
});
