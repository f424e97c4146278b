import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ChangelogSection,
  updateChangelog,
  updateChangelogFile,
} from "../../../src/apps/git/output/update-changelog.ts";

const EXISTING = `# Changelog

All notable changes.

## [Unreleased]

### Added

- Soon.

## [1.1.0] - 2026-01-02

### Fixed

- One.


## [1.0.0] - 2026-01-01

- First. \x20

[Unreleased]: https://example.com/compare/v1.1.0...HEAD
[1.0.0]: https://example.com/v1.0.0
`;
const SECTION: ChangelogSection = { version: "1.2.0", date: "2026-02-03", content: "### Added\n\n- New.\n" };
const WRITTEN = "## [1.2.0] - 2026-02-03\n\n### Added\n\n- New.\n";

describe("a section", () => {
  test("of a new version stands after what is unreleased, and before the others", () => {
    expect(updateChangelog(EXISTING, SECTION)).toBe(
      EXISTING.replace("## [1.1.0]", () => `${WRITTEN}\n## [1.1.0]`),
    );
  });

  test("of a version that is there takes its place; blank lines and links after it stay", () => {
    const middle = updateChangelog(EXISTING, { ...SECTION, version: "v1.1.0" });
    expect(middle).toBe(
      EXISTING.replace("## [1.1.0] - 2026-01-02\n\n### Fixed\n\n- One.\n", WRITTEN.replace("1.2.0", "1.1.0")),
    );
    const last = updateChangelog(EXISTING, { version: "1.0.0", content: "- Other." });
    expect(last).toBe(
      EXISTING.replace("## [1.0.0] - 2026-01-01\n\n- First.  \n", "## [1.0.0]\n\n- Other.\n"),
    );
    const unreleased = updateChangelog(EXISTING, { version: "Unreleased", content: "- Now." });
    expect(unreleased).toBe(EXISTING.replace("### Added\n\n- Soon.", "- Now."));
  });

  test("has the form of the headings that are there", () => {
    const plain = "# Log\n\n## v0.2 (old)\n\n- x\n";
    expect(updateChangelog(plain, SECTION)).toBe(
      `# Log\n\n${WRITTEN.replace("[1.2.0]", "v1.2.0")}\n## v0.2 (old)\n\n- x\n`,
    );
    const own = "# Changelog\n\n## Unreleased\n\n- y\n";
    expect(updateChangelog(own, SECTION)).toBe(`${own}\n${WRITTEN.replace("[1.2.0]", "1.2.0")}`);
  });

  test("is all of a new file, below a title", () => {
    for (const text of [undefined, "", "\n"])
      expect(updateChangelog(text, SECTION)).toBe(`# Changelog\n\n${WRITTEN}`);
  });

  test("has the line ends of the file, and a file without a last one stays without", () => {
    const windows = EXISTING.replace(/\n/g, "\r\n");
    expect(updateChangelog(windows, SECTION)).toBe(updateChangelog(EXISTING, SECTION).replace(/\n/g, "\r\n"));
    const open = "# Log\n\n## 1.0.0\n\n- x";
    expect(updateChangelog(open, { version: "1.0.0", content: "- y" })).toBe("# Log\n\n## 1.0.0\n\n- y");
    expect(updateChangelog("# Log\n\n## Unreleased", { version: "1.0.0", content: "- y" })).toBe(
      "# Log\n\n## Unreleased\n\n## 1.0.0\n\n- y",
    );
    expect(updateChangelog("# Log", { version: "1.0.0", content: "- y" })).toBe("# Log\n\n## [1.0.0]\n\n- y");
  });

  test("with headings of its own, or code that does not end, ends where it should", () => {
    const content = "## [1.2.0] - today\n\n# Loud\n\n## Added\n\n```sh\n## no heading\n";
    const once = updateChangelog(EXISTING, { ...SECTION, content });
    expect(once).toContain("03\n\n### Loud\n\n### Added\n\n```sh\n## no heading\n```\n\n## [1.1.0]");
    expect(updateChangelog(once, SECTION)).toBe(updateChangelog(EXISTING, SECTION));
  });

  test("is refused by a file whose last block of code does not end", () => {
    expect(() => updateChangelog("# Log\n\n```\n## 1.2.0\n", SECTION)).toThrow("does not end");
  });

  test("is not looked for in a block of code", () => {
    const text = "# Log\n\n```\n## 1.2.0\n```\n\n## 1.1.0\n\n- x\n";
    expect(updateChangelog(text, SECTION)).toBe(
      text.replace("## 1.1.0", `${WRITTEN.replace("[1.2.0]", "1.2.0")}\n## 1.1.0`),
    );
  });
});

const line = fc.constantFrom(
  "",
  "text ",
  "- item",
  "### Added",
  "## [2.0.0]",
  "## v1.2.0 - x",
  "## Unreleased",
  "# Title",
  "```",
  "~~~~",
  "[a]: https://b",
);
const block = fc.constantFrom(["```", "## [1.2.0]", "```"], ["~~~~", "```", "~~~~"]);
const fileLines = fc
  .array(
    fc.oneof(
      line.filter((text) => !/^[`~]/.test(text)).map((text) => [text]),
      block,
    ),
  )
  .map((parts) => parts.flat());
const changelog = fc
  .record({ lines: fileLines, end: fc.constantFrom("\n", "\r\n"), isClosed: fc.boolean() })
  .map(({ lines, end, isClosed }) => `${lines.join(end)}${isClosed ? end : ""}`);

test("whatever the file and the content, other text stays byte for byte, and a second update changes nothing", () => {
  fc.assert(
    fc.property(changelog, fc.array(line), (text, content) => {
      const section = { version: "1.2.0", content: `- new\n${content.join("\n")}` };
      const once = updateChangelog(text, section);
      expect(updateChangelog(once, section)).toBe(once);
      if (text.trim() === "" || /1\.2\.0/.test(text)) return;
      // Without the section and the blank lines around it, the text is as before.
      const at = once.indexOf("## [1.2.0]") === -1 ? once.search(/## v?1\.2\.0/) : once.indexOf("## [1.2.0]");
      const before = once.slice(0, at);
      expect(text.startsWith(before.trimEnd())).toBe(true);
      expect(once.endsWith(text.slice(Math.min(before.length, text.length)))).toBe(true);
    }),
  );
});

test("a file is replaced whole, with its mode, through a link; one that is no UTF-8 stays", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-changelog-"));
  try {
    const file = join(folder, "CHANGELOG.md");
    await updateChangelogFile(join(folder, "docs/NEW.md"), SECTION);
    expect(readFileSync(join(folder, "docs/NEW.md"), "utf8")).toBe(`# Changelog\n\n${WRITTEN}`);
    writeFileSync(file, `\ufeff${EXISTING}`);
    chmodSync(file, 0o640);
    symlinkSync(file, join(folder, "link.md"));
    await updateChangelogFile(join(folder, "link.md"), SECTION);
    expect(readFileSync(file, "utf8")).toBe(`\ufeff${updateChangelog(EXISTING, SECTION)}`);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const latin = Buffer.from([0x23, 0x20, 0xe9, 0x0a]);
    writeFileSync(file, latin);
    await expect(updateChangelogFile(file, SECTION)).rejects.toThrow("is no UTF-8");
    expect(readFileSync(file)).toEqual(latin);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
