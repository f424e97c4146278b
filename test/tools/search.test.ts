import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { searchTool } from "../../src/tools/search.ts";
import { carrying } from "./processes.ts";
import { call, contextIn, temporaryFolder, textOf } from "./workspace.ts";

async function withFiles(files: Readonly<Record<string, string | Buffer>>) {
  const workspace = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(workspace, path, ".."), { recursive: true });
    await writeFile(join(workspace, path), content);
  }
  return contextIn(workspace);
}

const FILES = {
  "a.ts": "one\nTwo // ../x//y\n",
  "src/b.ts": "two\n",
  "src/c.md": "two: three\n",
  "node_modules/d.ts": "two\n",
  "target/e.ts": "two\n",
};

describe.each([
  ["ripgrep", undefined],
  ["grep", ""],
])("search with %s", (_, ripgrep) => {
  const options = ripgrep === undefined ? {} : { ripgrep };
  const search = searchTool(options);

  test("gives file, line and text, whatever the case", async () => {
    const { content, details } = await call(search, { pattern: "two" }, await withFiles(FILES));
    const text = content[0]?.type === "text" ? content[0].text : "";
    expect(text.split("\n").toSorted()).toEqual([
      "a.ts:2:Two // ../x//y",
      "src/b.ts:1:two",
      "src/c.md:1:two: three",
    ]);
    expect(details).toEqual({ matches: 3, truncated: false });
  });

  test("takes case, names and folder; paths are in the words of the call", async () => {
    const context = await withFiles(FILES);
    expect(await textOf(search, { pattern: "Two", case_sensitive: true }, context)).toBe(
      "a.ts:2:Two // ../x//y",
    );
    expect(await textOf(search, { pattern: "two", include: "*.md" }, context)).toBe("src/c.md:1:two: three");
    expect(await textOf(search, { pattern: "two$", path: "./src/" }, context)).toBe("src/b.ts:1:two");
    expect(await textOf(search, { pattern: "t(wo|en)$", path: "src/b.ts" }, context)).toBe("src/b.ts:1:two");
    expect(await textOf(searchTool({ ...options, root: "src" }), { pattern: "two$" }, context)).toBe(
      "src/b.ts:1:two",
    );
  });

  test("a pattern that looks like an option is a pattern", async () => {
    const context = await withFiles({ "a.txt": "x --help y\n" });
    expect(await textOf(search, { pattern: "--help" }, context)).toBe("a.txt:1:x --help y");
  });

  test("says when there is nothing", async () => {
    expect(await call(search, { pattern: "zzz" }, await withFiles(FILES))).toEqual({
      content: [{ type: "text", text: "No matches found" }],
      details: { matches: 0, truncated: false },
    });
  });

  test("the limit is for all files together, and the count is of all matches", async () => {
    const context = await withFiles({ "a.txt": "x\n".repeat(40), "b.txt": "x\n".repeat(40) });
    const { content, details } = await call(search, { pattern: "x" }, context);
    const lines = content[0]?.type === "text" ? content[0].text.split("\n") : [];
    expect(lines).toHaveLength(51);
    expect(lines.at(-1)).toBe("... (truncated at 50 matches)");
    expect(details).toEqual({ matches: 80, truncated: true });
    expect(await textOf(searchTool({ ...options, maxResults: 80 }), { pattern: "x" }, context)).not.toContain(
      "truncated",
    );
  });

  test("a pattern that is everywhere ends the search early", async () => {
    const context = await withFiles({ "a.txt": "x\n".repeat(3_000_000) });
    expect((await call(search, { pattern: "x" }, context)).details).toEqual({
      matches: 10_000,
      truncated: true,
    });
    expect(carrying(`HOLDFAST_CALL=${context.idempotencyKey}`)).toEqual([]);
  });

  test("a pattern that is no regular expression fails with the program's words", async () => {
    await expect(call(search, { pattern: "(" }, await withFiles(FILES))).rejects.toMatchObject({
      fault: "failed",
      message: expect.stringMatching(/unclosed group|Unmatched \(/),
    });
  });

  test("ends within its time", async () => {
    const short = searchTool({ ...options, timeoutMs: 0 });
    await expect(call(short, { pattern: "x" }, await withFiles(FILES))).rejects.toMatchObject({
      fault: "failed",
      message: "Search timed out",
    });
  });

  test("a file that may not be read does not spoil the rest", async () => {
    const context = await withFiles(FILES);
    await chmod(join(context.workspace, "src/b.ts"), 0);
    await symlink("nowhere", join(context.workspace, "src/broken"));
    expect(await textOf(search, { pattern: "three", path: "src" }, context)).toBe("src/c.md:1:two: three");
  });
});

describe("search", () => {
  const search = searchTool();

  test("is sorted by path, passes over binary and ignored files, and cuts long lines", async () => {
    const context = await withFiles({
      "b.txt": `needle ${"x".repeat(10_000)}\n`,
      "a.txt": "needle\n",
      "c.bin": Buffer.from("needle\0\n"),
      "d.log": "needle\n",
      ".gitignore": "*.log\n",
    });
    const lines = (await textOf(search, { pattern: "needle" }, context)).split("\n");
    expect(lines.map((line) => line.slice(0, 14))).toEqual(["a.txt:1:needle", "b.txt:1:needle"]);
    expect(lines[1]!.length).toBeLessThan(2_200);
  });

  test("ignore files above the workspace do not hide it", async () => {
    const outer = await withFiles({ ".gitignore": "*\n", ".git/HEAD": "", "workspace/a.txt": "needle\n" });
    const context = contextIn(join(outer.workspace, "workspace"));
    expect(await textOf(search, { pattern: "needle" }, context)).toBe("a.txt:1:needle");
  });

  test("text that is not UTF-8 arrives all the same", async () => {
    const context = await withFiles({ "a.txt": Buffer.from([0x78, 0xff, 0x79, 0x0a]) });
    expect(await textOf(search, { pattern: "x" }, context)).toBe("a.txt:1:x\uFFFDy");
  });

  test("a place that is not there, or is a fifo", async () => {
    const context = await withFiles(FILES);
    await expect(call(search, { pattern: "x", path: "nope" }, context)).rejects.toThrow(
      "Cannot access nope: no such file or directory (ENOENT)",
    );
  });

  test("cancelled before or during the work", async () => {
    const context = await withFiles(FILES);
    const controller = new AbortController();
    const during = { ...context, signal: controller.signal, spawned: async () => controller.abort() };
    await expect(call(search, { pattern: "x" }, during)).rejects.toMatchObject({
      fault: "cancelled",
      message: "Cancelled",
    });
  });

  test("arguments that do not fit name the field; the summary is the pattern", () => {
    expect(search.parse({ pattern: "" })).toEqual({ ok: false, message: "pattern: must not be empty" });
    expect(search.parse({ pattern: "x", case_sensitive: "yes" })).toMatchObject({
      ok: false,
      message: expect.stringContaining("case_sensitive: "),
    });
    expect(search.summarise({ pattern: "x" })).toBe("x");
  });
});
