import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWriteFileTool } from "../../src/tools/builtin/write-file-tool.ts";
import { makeFifo } from "./processes.ts";
import { callForText, callTool, createContext, createTemporaryFolder } from "./tool-context.ts";

const write = createWriteFileTool();

test("a file is written, and the folders that it needs are created [TOOL-16.3]", async () => {
  const workspace = await createTemporaryFolder();
  expect(await callTool(write, { path: "a/b/c.txt", content: "hé\n" }, createContext(workspace))).toEqual({
    content: [{ type: "text", text: "Wrote 4 bytes to a/b/c.txt" }],
    details: { path: "a/b/c.txt", bytes: 4 },
  });
  expect(await readFile(join(workspace, "a/b/c.txt"), "utf8")).toBe("hé\n");
  expect(await readdir(join(workspace, "a/b"))).toEqual(["c.txt"]);
});

test("a file's content is replaced; line endings are written as given, and the mode is preserved", async () => {
  const workspace = await createTemporaryFolder();
  const file = join(workspace, "run.sh");
  await writeFile(file, "old content that is longer\n");
  await chmod(file, 0o750);
  await callTool(write, { path: "run.sh", content: "a\r\nb" }, createContext(workspace));
  expect(await readFile(file, "latin1")).toBe("a\r\nb");
  expect((await stat(file)).mode & 0o777).toBe(0o750);
});

test("path and content are required; folders are created, and existing content is replaced [BIT-11.1-3]", async () => {
  expect(write.parse({ content: "x" })).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^path: /),
  });
  expect(write.parse({ path: "x" })).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^content: /),
  });
  const workspace = await createTemporaryFolder();
  for (const content of ["first, and longer", "second"]) {
    await callTool(write, { path: "deep/er/a.txt", content }, createContext(workspace));
    expect(await readFile(join(workspace, "deep/er/a.txt"), "utf8")).toBe(content);
  }
});

test("an empty file can be written", async () => {
  const workspace = await createTemporaryFolder();
  expect(await callForText(write, { path: "empty", content: "" }, createContext(workspace))).toBe(
    "Wrote 0 bytes to empty",
  );
  expect(await readFile(join(workspace, "empty"), "utf8")).toBe("");
});

describe("a second execution", () => {
  test("returns the same result and does not touch the file", async () => {
    const workspace = await createTemporaryFolder();
    const context = createContext(workspace);
    const first = await callTool(write, { path: "a.txt", content: "x" }, context);
    const before = await stat(join(workspace, "a.txt"), { bigint: true });
    expect(await callTool(write, { path: "a.txt", content: "x" }, context)).toEqual(first);
    const after = await stat(join(workspace, "a.txt"), { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
  });

  test("writes different content of the same length", async () => {
    const workspace = await createTemporaryFolder();
    await writeFile(join(workspace, "a.txt"), "y");
    await callTool(write, { path: "a.txt", content: "x" }, createContext(workspace));
    expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("x");
  });
});

describe("symbolic links", () => {
  test("one to a file in the workspace is followed", async () => {
    const workspace = await createTemporaryFolder();
    await mkdir(join(workspace, "real"));
    await writeFile(join(workspace, "real/a.txt"), "old");
    await symlink("real/a.txt", join(workspace, "link.txt"));
    await symlink("link.txt", join(workspace, "link-to-link.txt"));
    await callTool(write, { path: "link-to-link.txt", content: "new" }, createContext(workspace));
    expect(await readFile(join(workspace, "real/a.txt"), "utf8")).toBe("new");
    expect((await readdir(workspace)).toSorted()).toEqual(["link-to-link.txt", "link.txt", "real"]);
  });

  test("one to a folder in the workspace is followed", async () => {
    const workspace = await createTemporaryFolder();
    await mkdir(join(workspace, "real"));
    await symlink("real", join(workspace, "link"));
    await callTool(write, { path: "link/new/a.txt", content: "x" }, createContext(workspace));
    expect(await readFile(join(workspace, "real/new/a.txt"), "utf8")).toBe("x");
  });

  test("one without a target is rejected", async () => {
    const workspace = await createTemporaryFolder();
    await symlink("nowhere", join(workspace, "link"));
    await expect(callTool(write, { path: "link", content: "x" }, createContext(workspace))).rejects.toThrow(
      /Cannot write link: /,
    );
    await expect(callTool(write, { path: "link/a", content: "x" }, createContext(workspace))).rejects.toThrow(
      /Cannot write link\/a: /,
    );
    expect(await readdir(workspace)).toEqual(["link"]);
  });

  test("circular links are rejected", async () => {
    const workspace = await createTemporaryFolder();
    await symlink("b", join(workspace, "a"));
    await symlink("a", join(workspace, "b"));
    await expect(callTool(write, { path: "a", content: "x" }, createContext(workspace))).rejects.toThrow(
      /Cannot write a: .*ELOOP/,
    );
  });
});

describe("a path that cannot be written", () => {
  test("is named with the reason, and nothing is created", async () => {
    const workspace = await createTemporaryFolder();
    await mkdir(join(workspace, "folder"));
    await writeFile(join(workspace, "file"), "");
    makeFifo(join(workspace, "fifo"));
    const message = (path: string) =>
      callTool(write, { path, content: "x" }, createContext(workspace)).catch(
        (error: Error) => error.message,
      );
    expect(await message("folder")).toBe("Cannot write folder: it is a directory");
    expect(await message(".")).toBe("Cannot write .: it is a directory");
    expect(await message("file/a")).toBe("Cannot write file/a: not a directory (ENOTDIR)");
    expect(await message("fifo")).toBe("Cannot write fifo: it is not a regular file");
    expect(await message("n".repeat(300))).toMatch(/^Cannot write n+: name too long \(ENAMETOOLONG\)$/);
    expect((await readdir(workspace)).toSorted()).toEqual(["fifo", "file", "folder"]);
  });

  test("a cancelled call writes nothing and creates no folder", async () => {
    const workspace = await createTemporaryFolder();
    const context = createContext(workspace, { signal: AbortSignal.abort() });
    await expect(callTool(write, { path: "a/b", content: "x" }, context)).rejects.toMatchObject({
      fault: "cancelled",
    });
    expect(await readdir(workspace)).toEqual([]);
  });
});

test("a cancellation at any step leaves the old content and nothing else", async () => {
  const workspace = await createTemporaryFolder();
  await writeFile(join(workspace, "a.txt"), "old");
  // Checked before each step: abort at the first check, at the second, and so on, until none is left.
  for (let looks = 0; ; looks += 1) {
    let left = looks;
    const signal = {
      get aborted() {
        left -= 1;
        return left < 0;
      },
    } as AbortSignal;
    const outcome = await callTool(
      write,
      { path: "a.txt", content: "new content" },
      createContext(workspace, { signal }),
    ).catch((error: Error) => error.message);
    if (typeof outcome !== "string") {
      expect(looks).toBeGreaterThan(4);
      break;
    }
    expect(outcome).toBe("Cancelled");
    expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("old");
    expect(await readdir(workspace)).toEqual(["a.txt"]);
  }
  expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("new content");
});

test("concurrent calls on the same file leave the content of one of them", async () => {
  const workspace = await createTemporaryFolder();
  const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(1000 + index));
  await Promise.all(
    contents.map((content) => callTool(write, { path: "a.txt", content }, createContext(workspace))),
  );
  expect(contents).toContain(await readFile(join(workspace, "a.txt"), "utf8"));
  expect(await readdir(workspace)).toEqual(["a.txt"]);
});
