import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { listFilesTool } from "../../src/tools/builtin/list-files.ts";
import { carrying } from "./processes.ts";
import { call, contextIn, program, temporaryFolder, textOf, timeLimitOf } from "./workspace.ts";

async function withFiles(paths: readonly string[]) {
  const workspace = await temporaryFolder();
  for (const path of paths) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), `${path}\n`);
  }
  return contextIn(workspace);
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
  ["ripgrep", listFilesTool, undefined],
  ["find", listFilesTool, ""],
])("list_files with %s", (_, make, ripgrep) => {
  const options = ripgrep === undefined ? {} : { ripgrep };
  const list = make(options);

  test("gives files only, sorted, three levels deep, without what programs make [TOOL-16]", async () => {
    const context = await withFiles(FILES);
    await writeFile(join(context.workspace, ".gitignore"), "*.log\n");
    await symlink("src", join(context.workspace, "link"));
    expect(await call(list, {}, context)).toEqual({
      content: [
        {
          type: "text",
          text: ".gitignore\n.hidden/c.ts\nREADME.md\nignored.log\nsrc/deep/a.ts\nsrc/main.ts",
        },
      ],
      details: { total: 6, truncated: false },
    });
  });

  test("takes depth, folder and pattern; paths are in the words of the call", async () => {
    const context = await withFiles(FILES);
    expect(await textOf(list, { max_depth: 1 }, context)).toBe("README.md\nignored.log");
    expect(await textOf(list, { max_depth: 4, pattern: "*.ts" }, context)).toBe(
      ".hidden/c.ts\nsrc/deep/a.ts\nsrc/deep/er/b.ts\nsrc/main.ts",
    );
    expect(await textOf(list, { path: "src/deep" }, context)).toBe("src/deep/a.ts\nsrc/deep/er/b.ts");
    expect(await textOf(list, { path: "./src/", max_depth: 1 }, context)).toBe("src/main.ts");
    expect(await textOf(list, { path: join(context.workspace, "src"), max_depth: 1 }, context)).toBe(
      `${context.workspace}/src/main.ts`,
    );
  });

  test("path, pattern and depth; 200 results and 10 seconds unless options say otherwise; files only [BIT-17]", async () => {
    const context = await withFiles([
      ...["a.md", "in/b.ts", "in/two/c.ts", "in/two/three/d.ts"],
      ...["target/x.ts", ".git/x.ts", "node_modules/x.ts", "in/target/x.ts"],
    ]);
    expect(await textOf(list, {}, context)).toBe("a.md\nin/b.ts\nin/two/c.ts");
    expect(await textOf(list, { path: "." }, context)).toBe("a.md\nin/b.ts\nin/two/c.ts");
    expect(await textOf(list, { path: "in", pattern: "*.ts", max_depth: 3 }, context)).toBe(
      "in/b.ts\nin/two/c.ts\nin/two/three/d.ts",
    );
    expect(await textOf(list, { max_depth: 1 }, context)).toBe("a.md");

    const many = await withFiles(Array.from({ length: 201 }, (_, index) => `${index}.txt`));
    expect((await textOf(list, {}, many)).split("\n")).toHaveLength(201);
    expect((await call(list, {}, many)).details).toEqual({ total: 201, truncated: true });
    expect((await call(make({ ...options, maxResults: 201 }), {}, many)).details).toEqual({
      total: 201,
      truncated: false,
    });

    const slow = await program("find", "exec sleep 1000");
    const stuck = ripgrep === undefined ? { ripgrep: slow } : options;
    const message = "List timed out";
    expect(await timeLimitOf(make(stuck), {}, many)).toEqual({ afterMs: 10_000, message });
    expect(await timeLimitOf(make({ ...stuck, timeoutMs: 50 }), {}, many)).toEqual({ afterMs: 50, message });
  });

  describe("what it does not give is said [BIT-18]", () => {
    test("counts all before it cuts", async () => {
      const context = await withFiles(
        Array.from({ length: 12 }, (_, index) => `${String(index).padStart(2, "0")}.txt`),
      );
      expect(await call(make({ ...options, maxResults: 3 }), {}, context)).toEqual({
        content: [{ type: "text", text: "00.txt\n01.txt\n02.txt\n... (truncated at 3 results)" }],
        details: { total: 12, truncated: true },
      });
      expect((await call(make({ ...options, maxResults: 12 }), {}, context)).details).toEqual({
        total: 12,
        truncated: false,
      });
    });
  });

  test("says when there is nothing", async () => {
    const context = await withFiles(["a.txt"]);
    expect(await call(list, { pattern: "*.rs" }, context)).toEqual({
      content: [{ type: "text", text: "No files found" }],
      details: { total: 0, truncated: false },
    });
  });
});

describe("list_files", () => {
  const list = listFilesTool();

  test("a search that hangs ends within its time, and leaves nothing behind [BIT-18]", async () => {
    const context = await withFiles(["a.txt"]);
    const list = listFilesTool({ ripgrep: await program("rg", "sleep 60"), timeoutMs: 100 });
    await expect(call(list, {}, context)).rejects.toMatchObject({
      fault: "failed",
      message: "List timed out",
    });
    expect(carrying(`HOLDFAST_CALL=${context.idempotencyKey}`)).toEqual([]);
  });

  test("takes patterns with folders, names with line ends of Windows aside", async () => {
    const context = await withFiles(["src/a.ts", "test/b.ts", "-dash/c.ts"]);
    expect(await textOf(list, { pattern: "src/**/*.ts" }, context)).toBe("src/a.ts");
    expect(await textOf(list, { pattern: "*.ts", path: "-dash" }, context)).toBe("-dash/c.ts");
  });

  test("a pattern or folder that is wrong is said to be so", async () => {
    const context = await withFiles(["a.txt"]);
    await expect(call(list, { pattern: "[" }, context)).rejects.toMatchObject({
      fault: "failed",
      message: expect.stringContaining("unclosed character class"),
    });
    await expect(call(list, { path: "nope" }, context)).rejects.toThrow(
      "Cannot access nope: no such file or directory (ENOENT)",
    );
    await expect(call(list, { path: "a.txt" }, context)).rejects.toThrow(
      "Cannot access a.txt: not a directory (ENOTDIR)",
    );
  });

  test("cancelled before or during the work", async () => {
    const context = await withFiles(["a.txt"]);
    const controller = new AbortController();
    const during = { ...context, signal: controller.signal, spawned: async () => controller.abort() };
    await expect(call(list, {}, during)).rejects.toMatchObject({ fault: "cancelled", message: "Cancelled" });
    await expect(call(list, {}, { ...context, signal: AbortSignal.abort() })).rejects.toMatchObject({
      fault: "cancelled",
    });
  });

  test("200 results unless told otherwise; the summary is the folder and the pattern", async () => {
    const context = await withFiles(Array.from({ length: 201 }, (_, index) => `${index}.txt`));
    const text = await textOf(list, {}, context);
    expect(text.split("\n")).toHaveLength(201);
    expect(text).toContain("\n... (truncated at 200 results)");
    expect(list.summarise({ path: "src", pattern: "*.ts" })).toBe("src/*.ts");
    expect(list.summarise({})).toBe(".");
  });
});
