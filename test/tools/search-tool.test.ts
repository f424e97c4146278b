import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createSearchTool, type SearchToolOptions } from "../../src/tools/builtin/search-tool.ts";
import { listCommandLines } from "./processes.ts";
import {
  callForText,
  callTool,
  createContext,
  createTemporaryFolder,
  installProgram,
  measureTimeLimit,
} from "./tool-context.ts";

async function withFiles(files: Readonly<Record<string, string | Buffer>>) {
  const workspace = await createTemporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(workspace, path, ".."), { recursive: true });
    await writeFile(join(workspace, path), content);
  }
  return createContext(workspace);
}

const FILES = {
  "a.ts": "one\nTwo // ../x//y\n",
  "src/b.ts": "two\n",
  "src/c.md": "two: three\n",
  "node_modules/d.ts": "two\n",
  "target/e.ts": "two\n",
  "node_modules/f.md": "two\n",
};

describe.each([
  ["ripgrep", undefined],
  ["grep", ""],
])("search with %s", (_, ripgrep) => {
  const options = ripgrep === undefined ? {} : { ripgrep };
  const search = createSearchTool(options);

  test("returns file, line and text, ignoring case [TOOL-16.6]", async () => {
    const { content, details } = await callTool(search, { pattern: "two" }, await withFiles(FILES));
    const text = content[0]?.type === "text" ? content[0].text : "";
    expect(text.split("\n").toSorted()).toEqual([
      "a.ts:2:Two // ../x//y",
      "src/b.ts:1:two",
      "src/c.md:1:two: three",
    ]);
    expect(details).toEqual({ matches: 3, truncated: false });
  });

  test("takes case, file names and folder; the returned paths are relative to the workspace", async () => {
    const context = await withFiles(FILES);
    expect(await callForText(search, { pattern: "Two", case_sensitive: true }, context)).toBe(
      "a.ts:2:Two // ../x//y",
    );
    expect(await callForText(search, { pattern: "two", include: "*.md" }, context)).toBe(
      "src/c.md:1:two: three",
    );
    expect(await callForText(search, { pattern: "two$", path: "./src/" }, context)).toBe("src/b.ts:1:two");
    expect(await callForText(search, { pattern: "t(wo|en)$", path: "src/b.ts" }, context)).toBe(
      "src/b.ts:1:two",
    );
    expect(
      await callForText(createSearchTool({ ...options, root: "src" }), { pattern: "two$" }, context),
    ).toBe("src/b.ts:1:two");
  });

  test("takes pattern, path, include and case; by default 50 results, 30 seconds and the workspace [BIT-19.1-2]", async () => {
    const context = await withFiles({ "a.md": "Red\n", "in/b.ts": "red\n", "in/c.md": "reed\n" });
    expect(search.parse({ path: "." })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^pattern: /),
    });
    const found = async (request: object, more: SearchToolOptions = {}) =>
      (await callForText(createSearchTool({ ...options, ...more }), request, context)).split("\n").toSorted();
    expect(await found({ pattern: "re+d" })).toEqual(["a.md:1:Red", "in/b.ts:1:red", "in/c.md:1:reed"]);
    expect(await found({ pattern: "re+d", path: "in" })).toEqual(["in/b.ts:1:red", "in/c.md:1:reed"]);
    expect(await found({ pattern: "re+d" }, { root: "in" })).toEqual(["in/b.ts:1:red", "in/c.md:1:reed"]);
    expect(await found({ pattern: "Red", path: "." }, { root: "in" })).toEqual([
      "a.md:1:Red",
      "in/b.ts:1:red",
    ]);
    expect(await found({ pattern: "re+d", include: "*.md" })).toEqual(["a.md:1:Red", "in/c.md:1:reed"]);
    expect(await found({ pattern: "red", case_sensitive: false })).toEqual(["a.md:1:Red", "in/b.ts:1:red"]);
    expect(await found({ pattern: "red", case_sensitive: true })).toEqual(["in/b.ts:1:red"]);

    await writeFile(join(context.workspace, "a.md"), "red\n".repeat(60));
    expect(await found({ pattern: "red", path: "a.md" })).toHaveLength(51);
    expect(await found({ pattern: "red", path: "a.md" }, { maxResults: 9 })).toHaveLength(10);

    const slow = await installProgram("grep", "exec sleep 1000");
    const stuck = ripgrep === undefined ? { ripgrep: slow } : options;
    const message = "Search timed out";
    const limit = (more: SearchToolOptions) =>
      measureTimeLimit(createSearchTool({ ...stuck, ...more }), { pattern: "x" }, context);
    expect(await limit({})).toEqual({ afterMs: 30_000, message });
    expect(await limit({ timeoutMs: 50 })).toEqual({ afterMs: 50, message });
  });

  describe("the end of the search program", () => {
    const ending = async (script: string, timeoutMs?: number) => {
      const path = await installProgram("grep", script);
      const bounds = { maxResults: 2, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
      const tool = createSearchTool({ ...(ripgrep === undefined ? { ripgrep: path } : options), ...bounds });
      return await callForText(tool, { pattern: "x" }, await withFiles(FILES)).catch(
        (error: unknown) => error,
      );
    };

    test("with exit code 1 and no message is no match; any other is a failure, with the program's message [BIT-21.1-2]", async () => {
      expect(await ending("exit 1")).toBe("No matches found");
      for (const script of ["echo 'bad thing' >&2; exit 2", "echo 'bad thing' >&2; exit 1"]) {
        expect(await ending(script)).toMatchObject({ fault: "failed", message: "bad thing" });
      }
      expect(await ending("exit 2")).toMatchObject({
        fault: "failed",
        message:
          "Nothing was found, and some files may not be readable: the search ended with exit code 2 and without a message",
      });
      expect(await ending("kill -9 $$")).toMatchObject({
        fault: "failed",
        message: expect.stringMatching(/grep was terminated by SIGKILL$/),
      });
    });

    test("above the limit is reported as truncation, and not at the limit [BIT-21.3]", async () => {
      const lines = (count: number) => `for i in $(seq ${count}); do echo "./a:$i:x"; done`;
      expect(await ending(lines(2))).toBe("a:1:x\na:2:x");
      expect(await ending(lines(3))).toBe("a:1:x\na:2:x\n... (truncated at 2 matches)");
    });

    test("by the time limit is reported [BIT-21.4]", async () => {
      expect(await ending("sleep 60", 50)).toMatchObject({ fault: "failed", message: "Search timed out" });
    });
  });

  test("a pattern that looks like an option is a pattern", async () => {
    const context = await withFiles({ "a.txt": "x --help y\n" });
    expect(await callForText(search, { pattern: "--help" }, context)).toBe("a.txt:1:x --help y");
  });

  test("reports that there are no matches", async () => {
    expect(await callTool(search, { pattern: "zzz" }, await withFiles(FILES))).toEqual({
      content: [{ type: "text", text: "No matches found" }],
      details: { matches: 0, truncated: false },
    });
  });

  test("the limit covers all files together, and the count covers all matches", async () => {
    const context = await withFiles({ "a.txt": "x\n".repeat(40), "b.txt": "x\n".repeat(40) });
    const { content, details } = await callTool(search, { pattern: "x" }, context);
    const lines = content[0]?.type === "text" ? content[0].text.split("\n") : [];
    expect(lines).toHaveLength(51);
    expect(lines.at(-1)).toBe("... (truncated at 50 matches)");
    expect(details).toEqual({ matches: 80, truncated: true });
    expect(
      await callForText(createSearchTool({ ...options, maxResults: 80 }), { pattern: "x" }, context),
    ).not.toContain("truncated");
  });

  test("a pattern that matches everywhere ends the search early", async () => {
    const context = await withFiles({ "a.txt": "x\n".repeat(3_000_000) });
    expect((await callTool(search, { pattern: "x" }, context)).details).toEqual({
      matches: 10_000,
      truncated: true,
    });
    expect(listCommandLines(`HOLDFAST_CALL=${context.idempotencyKey}`)).toEqual([]);
  });

  test("an invalid regular expression fails with the program's message", async () => {
    await expect(callTool(search, { pattern: "(" }, await withFiles(FILES))).rejects.toMatchObject({
      fault: "failed",
      message: expect.stringMatching(/unclosed group|Unmatched \(/),
    });
  });

  test("an unreadable file does not affect the others", async () => {
    const context = await withFiles(FILES);
    await chmod(join(context.workspace, "src/b.ts"), 0);
    await symlink("nowhere", join(context.workspace, "src/broken"));
    expect(await callForText(search, { pattern: "three", path: "src" }, context)).toBe(
      "src/c.md:1:two: three",
    );
  });
});

describe("the search program", () => {
  const reports = 'printf "%s\\n" "$@" > "$0.args"; echo "./a.ts:7:found: it"';
  const argumentsOf = async (path: string) => (await readFile(`${path}.args`, "utf8")).split("\n");

  /** The tool as it is where the ripgrep package is not installed. */
  async function withoutPackage() {
    vi.resetModules();
    vi.doMock("@vscode/ripgrep", () => {
      throw new Error("no binary was installed");
    });
    onTestFinished(() => {
      vi.doUnmock("@vscode/ripgrep");
      vi.resetModules();
    });
    return (await import("../../src/tools/builtin/search-tool.ts")).createSearchTool();
  }

  test("is the package's ripgrep, if installed [BIT-20.1]", async () => {
    const other = await installProgram("rg", reports);
    const grep = await installProgram("grep", reports);
    expect(await callForText(createSearchTool(), { pattern: "three" }, await withFiles(FILES))).toBe(
      "src/c.md:1:two: three",
    );
    for (const path of [other, grep]) await expect(argumentsOf(path)).rejects.toThrow("ENOENT");
  });

  test("is otherwise ripgrep on PATH, called with line numbers, no headings and a bound [BIT-20.1, BIT-20.3]", async () => {
    const grep = await installProgram("grep", reports);
    const other = await installProgram("rg", reports);
    const tool = await withoutPackage();
    expect(await callForText(tool, { pattern: "x" }, await withFiles(FILES))).toBe("a.ts:7:found: it");
    expect(await argumentsOf(other)).toEqual(
      expect.arrayContaining(["--line-number", "--no-heading", expect.stringMatching(/^--max-count=\d+$/)]),
    );
    await expect(argumentsOf(grep)).rejects.toThrow("ENOENT");
  });

  test("is otherwise grep, called with all folders, line numbers and a bound [BIT-20.2-3]", async () => {
    const grep = await installProgram("grep", reports);
    vi.stubEnv("PATH", `${dirname(grep)}:/usr/bin:/bin`);
    const tool = await withoutPackage();
    expect(await callForText(tool, { pattern: "x" }, await withFiles(FILES))).toBe("a.ts:7:found: it");
    expect(await argumentsOf(grep)).toEqual(
      expect.arrayContaining(["-r", "-n", expect.stringMatching(/^-m\d+$/)]),
    );
  });
});

describe("search", () => {
  const search = createSearchTool();

  test("is sorted by path, skips binary and ignored files, and truncates long lines", async () => {
    const context = await withFiles({
      "b.txt": `needle ${"x".repeat(10_000)}\n`,
      "a.txt": "needle\n",
      "c.bin": Buffer.from("needle\0\n"),
      "d.log": "needle\n",
      ".gitignore": "*.log\n",
    });
    const lines = (await callForText(search, { pattern: "needle" }, context)).split("\n");
    expect(lines.map((line) => line.slice(0, 14))).toEqual(["a.txt:1:needle", "b.txt:1:needle"]);
    expect(lines[1]!.length).toBeLessThan(2_200);
  });

  test("ignore files above the workspace have no effect", async () => {
    const outer = await withFiles({ ".gitignore": "*\n", ".git/HEAD": "", "workspace/a.txt": "needle\n" });
    const context = createContext(join(outer.workspace, "workspace"));
    expect(await callForText(search, { pattern: "needle" }, context)).toBe("a.txt:1:needle");
  });

  test("text that is not UTF-8 is returned nevertheless", async () => {
    const context = await withFiles({ "a.txt": Buffer.from([0x78, 0xff, 0x79, 0x0a]) });
    expect(await callForText(search, { pattern: "x" }, context)).toBe("a.txt:1:x\uFFFDy");
  });

  test("a missing path is reported", async () => {
    const context = await withFiles(FILES);
    await expect(callTool(search, { pattern: "x", path: "nope" }, context)).rejects.toThrow(
      "Cannot access nope: no such file or directory (ENOENT)",
    );
  });

  test("can be cancelled during the work", async () => {
    const context = await withFiles(FILES);
    const controller = new AbortController();
    const during = { ...context, signal: controller.signal, onSpawned: async () => controller.abort() };
    await expect(callTool(search, { pattern: "x" }, during)).rejects.toMatchObject({
      fault: "cancelled",
      message: "Cancelled",
    });
  });

  test("invalid arguments name the field; the summary is the pattern", () => {
    expect(search.parse({ pattern: "" })).toEqual({ ok: false, message: "pattern: must not be empty" });
    expect(search.parse({ pattern: "x", case_sensitive: "yes" })).toMatchObject({
      ok: false,
      message: expect.stringContaining("case_sensitive: "),
    });
    expect(search.summarise({ pattern: "x" })).toBe("x");
  });
});
