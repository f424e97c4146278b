import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createListFilesTool } from "../../src/tools/builtin/list-files-tool.ts";
import { listCommandLines } from "./processes.ts";
import {
  callForText,
  callTool,
  createContext,
  createTemporaryFolder,
  installProgram,
  measureTimeLimit,
} from "./tool-context.ts";

async function withFiles(paths: readonly string[]) {
  const workspace = await createTemporaryFolder();
  for (const path of paths) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), `${path}\n`);
  }
  return createContext(workspace);
}

const FILES = [
  "README.md",
  "src/main.ts",
  "src/deep/a.ts",
  "src/deep/er/b.ts",
  ".hidden/c.ts",
  "ignored.log",
  "node_modules/x/index.ts",
  "src/node_modules/y.ts",
  "target/z.ts",
  ".git/config",
];

describe.each([
  ["ripgrep", createListFilesTool, undefined],
  ["find", createListFilesTool, ""],
])("list_files with %s", (_, make, ripgrep) => {
  const options = ripgrep === undefined ? {} : { ripgrep };
  const list = make(options);

  test("returns files only, sorted, three levels deep, without generated files [TOOL-16.5]", async () => {
    const context = await withFiles(FILES);
    await writeFile(join(context.workspace, ".gitignore"), "*.log\n");
    await symlink("src", join(context.workspace, "link"));
    expect(await callTool(list, {}, context)).toEqual({
      content: [
        {
          type: "text",
          text: ".gitignore\n.hidden/c.ts\nREADME.md\nignored.log\nsrc/deep/a.ts\nsrc/main.ts",
        },
      ],
      details: { total: 6, truncated: false },
    });
  });

  test("takes depth, folder and pattern; the returned paths are relative or absolute as in the call", async () => {
    const context = await withFiles(FILES);
    expect(await callForText(list, { max_depth: 1 }, context)).toBe("README.md\nignored.log");
    expect(await callForText(list, { max_depth: 4, pattern: "*.ts" }, context)).toBe(
      ".hidden/c.ts\nsrc/deep/a.ts\nsrc/deep/er/b.ts\nsrc/main.ts",
    );
    expect(await callForText(list, { path: "src/deep" }, context)).toBe("src/deep/a.ts\nsrc/deep/er/b.ts");
    expect(await callForText(list, { path: "./src/", max_depth: 1 }, context)).toBe("src/main.ts");
    expect(await callForText(list, { path: join(context.workspace, "src"), max_depth: 1 }, context)).toBe(
      `${context.workspace}/src/main.ts`,
    );
  });

  test("takes path, pattern and depth; by default 200 results and 10 seconds; files only [BIT-17.1-3]", async () => {
    const context = await withFiles([
      ...["a.md", "in/b.ts", "in/two/c.ts", "in/two/three/d.ts"],
      ...["target/x.ts", ".git/x.ts", "node_modules/x.ts", "in/target/x.ts"],
    ]);
    expect(await callForText(list, {}, context)).toBe("a.md\nin/b.ts\nin/two/c.ts");
    expect(await callForText(list, { path: "." }, context)).toBe("a.md\nin/b.ts\nin/two/c.ts");
    expect(await callForText(list, { path: "in", pattern: "*.ts", max_depth: 3 }, context)).toBe(
      "in/b.ts\nin/two/c.ts\nin/two/three/d.ts",
    );
    expect(await callForText(list, { max_depth: 1 }, context)).toBe("a.md");

    const many = await withFiles(Array.from({ length: 201 }, (_, index) => `${index}.txt`));
    expect((await callForText(list, {}, many)).split("\n")).toHaveLength(201);
    expect((await callTool(list, {}, many)).details).toEqual({ total: 201, truncated: true });
    expect((await callTool(make({ ...options, maxResults: 201 }), {}, many)).details).toEqual({
      total: 201,
      truncated: false,
    });

    const slow = await installProgram("find", "exec sleep 1000");
    const stuck = ripgrep === undefined ? { ripgrep: slow } : options;
    const message = "List timed out";
    expect(await measureTimeLimit(make(stuck), {}, many)).toEqual({ afterMs: 10_000, message });
    expect(await measureTimeLimit(make({ ...stuck, timeoutMs: 50 }), {}, many)).toEqual({
      afterMs: 50,
      message,
    });
  });

  describe("a truncated list [BIT-18.1]", () => {
    test("says so and has the total of all files", async () => {
      const context = await withFiles(
        Array.from({ length: 12 }, (_, index) => `${String(index).padStart(2, "0")}.txt`),
      );
      expect(await callTool(make({ ...options, maxResults: 3 }), {}, context)).toEqual({
        content: [{ type: "text", text: "00.txt\n01.txt\n02.txt\n... (truncated at 3 results)" }],
        details: { total: 12, truncated: true },
      });
      expect((await callTool(make({ ...options, maxResults: 12 }), {}, context)).details).toEqual({
        total: 12,
        truncated: false,
      });
    });
  });

  test("reports that there are no files", async () => {
    const context = await withFiles(["a.txt"]);
    expect(await callTool(list, { pattern: "*.rs" }, context)).toEqual({
      content: [{ type: "text", text: "No files found" }],
      details: { total: 0, truncated: false },
    });
  });
});

describe("list_files", () => {
  const list = createListFilesTool();

  test("a search that hangs ends within its time limit and leaves no process running [BIT-18.2]", async () => {
    const context = await withFiles(["a.txt"]);
    const list = createListFilesTool({ ripgrep: await installProgram("rg", "sleep 60"), timeoutMs: 100 });
    await expect(callTool(list, {}, context)).rejects.toMatchObject({
      fault: "failed",
      message: "List timed out",
    });
    expect(listCommandLines(`HOLDFAST_CALL=${context.idempotencyKey}`)).toEqual([]);
  });

  test("takes patterns with folders, and a folder whose name begins with a dash", async () => {
    const context = await withFiles(["src/a.ts", "test/b.ts", "-dash/c.ts"]);
    expect(await callForText(list, { pattern: "src/**/*.ts" }, context)).toBe("src/a.ts");
    expect(await callForText(list, { pattern: "*.ts", path: "-dash" }, context)).toBe("-dash/c.ts");
  });

  test("an invalid pattern or folder is reported", async () => {
    const context = await withFiles(["a.txt"]);
    await expect(callTool(list, { pattern: "[" }, context)).rejects.toMatchObject({
      fault: "failed",
      message: expect.stringContaining("unclosed character class"),
    });
    await expect(callTool(list, { path: "nope" }, context)).rejects.toThrow(
      "Cannot access nope: no such file or directory (ENOENT)",
    );
    await expect(callTool(list, { path: "a.txt" }, context)).rejects.toThrow(
      "Cannot access a.txt: not a directory (ENOTDIR)",
    );
  });

  test("can be cancelled before or during the work", async () => {
    const context = await withFiles(["a.txt"]);
    const controller = new AbortController();
    const during = { ...context, signal: controller.signal, onSpawned: async () => controller.abort() };
    await expect(callTool(list, {}, during)).rejects.toMatchObject({
      fault: "cancelled",
      message: "Cancelled",
    });
    await expect(callTool(list, {}, { ...context, signal: AbortSignal.abort() })).rejects.toMatchObject({
      fault: "cancelled",
    });
  });

  test("returns 200 results by default; the summary is the folder and the pattern", async () => {
    const context = await withFiles(Array.from({ length: 201 }, (_, index) => `${index}.txt`));
    const text = await callForText(list, {}, context);
    expect(text.split("\n")).toHaveLength(201);
    expect(text).toContain("\n... (truncated at 200 results)");
    expect(list.summarise({ path: "src", pattern: "*.ts" })).toBe("src/*.ts");
    expect(list.summarise({})).toBe(".");
  });
});
