import { mkdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createReadFileTool } from "../../src/tools/builtin/read-file-tool.ts";
import { PDF, PNG } from "../support/media.ts";
import { makeFifo } from "./processes.ts";
import { callForText, callTool, createContext, createTemporaryFolder } from "./tool-context.ts";

const read = createReadFileTool();

async function withFile(content: string | Buffer, name = "a.txt") {
  const workspace = await createTemporaryFolder();
  await writeFile(join(workspace, name), content);
  return createContext(workspace);
}

describe("text", () => {
  test("has a header and numbered lines [TOOL-16.2, BIT-08.1, BIT-08.3]", async () => {
    const context = await withFile("first line\n\nthird\n");
    expect(await callTool(read, { path: "a.txt" }, context)).toEqual({
      content: [{ type: "text", text: "[3 lines]\n   1 | first line\n   2 | \n   3 | third" }],
      details: { path: "a.txt" },
    });
  });

  test.each([
    ["no end of the last line", "a\nb", "[2 lines]\n   1 | a\n   2 | b"],
    ["line ends of Windows", "a\r\nb\r\n", "[2 lines]\n   1 | a\n   2 | b"],
    ["nothing", "", "[0 lines]\n"],
    ["an empty line", "\n", "[1 lines]\n   1 | "],
    ["a byte order mark", "\uFEFFa", "[1 lines]\n   1 | \uFEFFa"],
  ])("with %s", async (_, content, text) => {
    expect(await callForText(read, { path: "a.txt" }, await withFile(content))).toBe(text);
  });

  test("line numbers are aligned up to 9999 lines [BIT-08.3]", async () => {
    const text = await callForText(read, { path: "a.txt" }, await withFile("x\n".repeat(10_001)));
    const lines = text.split("\n");
    expect([lines[0], lines[10], lines[9999], lines[10_001]]).toEqual([
      "[10001 lines]",
      "  10 | x",
      "9999 | x",
      "10001 | x",
    ]);
  });

  test.each([
    [{ offset: 2 }, "[Lines 2-4 of 4]\n   2 | b\n   3 | c\n   4 | d"],
    [{ limit: 2 }, "[Lines 1-2 of 4]\n   1 | a\n   2 | b"],
    [{ offset: 2, limit: 2 }, "[Lines 2-3 of 4]\n   2 | b\n   3 | c"],
    [{ offset: 1, limit: 9 }, "[4 lines]\n   1 | a\n   2 | b\n   3 | c\n   4 | d"],
  ])("the part %j [BIT-08.2]", async (part, text) => {
    expect(await callForText(read, { path: "a.txt", ...part }, await withFile("a\nb\nc\nd\n"))).toBe(text);
  });

  test("a part that begins after the end is rejected", async () => {
    await expect(callTool(read, { path: "a.txt", offset: 3 }, await withFile("a\nb\n"))).rejects.toThrow(
      "Cannot access line 3 of a.txt: it has 2 lines",
    );
  });

  test("bytes that are not UTF-8 are replaced", async () => {
    const context = await withFile(Buffer.from([0x61, 0xff, 0x00, 0x62, 0xe2, 0x82]));
    expect(await callForText(read, { path: "a.txt" }, context)).toBe("[1 lines]\n   1 | a\uFFFD\0b\uFFFD");
  });

  test("a character that is split between two reads is one character", async () => {
    const text = await callForText(read, { path: "a.txt" }, await withFile(`${"x\n".repeat(32_767)}x€`));
    expect(text.endsWith("32768 | x€")).toBe(true);
    expect(text).not.toContain("\uFFFD");
  });

  test("an extremely long line is cut between characters", async () => {
    const context = await withFile(`€${"€".repeat(100_000)}\nnext\n`);
    const lines = (await callForText(read, { path: "a.txt" }, context)).split("\n");
    expect(lines[1]).toBe(`   1 | ${"€".repeat(21_845)}... (line truncated)`);
    expect(lines[2]).toBe("   2 | next");
  });
});

test("takes a path and a part of its lines; by default 1 MB and the whole workspace [BIT-07.1-2]", async () => {
  expect(read.parse({})).toMatchObject({ ok: false, message: expect.stringMatching(/^path: /) });
  expect(read.parse({ path: "a", offset: 0 })).toMatchObject({ ok: false });
  const context = await withFile("a\nb\nc\nd\n");
  await mkdir(join(context.workspace, "docs"));
  await writeFile(join(context.workspace, "docs/b.txt"), "y");
  const part = "[Lines 2-3 of 4]\n   2 | b\n   3 | c";
  expect(await callForText(read, { path: "a.txt", offset: 2, limit: 2 }, context)).toBe(part);

  await writeFile(join(context.workspace, "mega"), "x\n".repeat(512 * 1024));
  expect(await callForText(read, { path: "mega" }, context)).toContain(`[${512 * 1024} lines]`);
  await writeFile(join(context.workspace, "mega"), `${"x\n".repeat(512 * 1024)}x`);
  await expect(callTool(read, { path: "mega" }, context)).rejects.toThrow("File too large.");
  const bounded = (maxBytes: number) =>
    callTool(createReadFileTool({ maxBytes }), { path: "a.txt" }, context);
  await expect(bounded(7)).rejects.toThrow("File too large.");
  expect((await bounded(8)).details).toEqual({ path: "a.txt" });

  for (const allowedPaths of [[], ["docs"]]) {
    const tool = createReadFileTool({ allowedPaths });
    expect(await callForText(tool, { path: "docs/b.txt" }, context)).toBe("[1 lines]\n   1 | y");
    const outside = callTool(tool, { path: "a.txt" }, context);
    if (allowedPaths.length === 0) expect((await outside).details).toEqual({ path: "a.txt" });
    else await expect(outside).rejects.toThrow("a.txt is outside the allowed paths");
  }
});

test("a file that cannot be read is named; one that is too large is rejected before it is read [BIT-09.1-4]", async () => {
  const context = await withFile("x");
  await truncate(join(context.workspace, "a.txt"), 100_000_000);
  await writeFile(join(context.workspace, "a.png"), "x");
  await truncate(join(context.workspace, "a.png"), 60_000_000);
  const bytesRead = async () =>
    Number(/rchar: (\d+)/.exec(await readFile("/proc/self/io", "utf8"))?.[1] ?? Number.NaN);
  const tool = createReadFileTool({ maxBytes: 99_000_000 });
  const refusal = (path: string) =>
    callTool(tool, { path }, context).then(
      () => "it was read",
      (error: Error) => error.message,
    );
  const before = await bytesRead();
  expect(await refusal("nope.txt")).toBe("Cannot access nope.txt: no such file or directory (ENOENT)");
  expect(await refusal("a.txt")).toBe("File too large. Use offset/limit for partial reads.");
  expect(await refusal("a.png")).toBe("Image too large");
  expect((await bytesRead()) - before).toBeLessThan(20_000_000);
});

describe("size", () => {
  test("a file over the limit can be read only in parts", async () => {
    const context = await withFile(`${"x".repeat(99)}\n`.repeat(20_000));
    await expect(callTool(read, { path: "a.txt" }, context)).rejects.toMatchObject({
      fault: "failed",
      message: "File too large. Use offset/limit for partial reads.",
    });
    const part = await callForText(read, { path: "a.txt", offset: 19_999, limit: 5 }, context);
    expect(part).toBe(`[Lines 19999-20000 of 20000]\n19999 | ${"x".repeat(99)}\n20000 | ${"x".repeat(99)}`);
    await expect(callTool(read, { path: "a.txt", offset: 2 }, context)).rejects.toThrow("File too large.");
  });

  test("the configured limit is exact to the byte", async () => {
    const context = await withFile("12345678\n");
    expect(await callForText(createReadFileTool({ maxBytes: 9 }), { path: "a.txt" }, context)).toContain(
      "12345678",
    );
    await expect(callTool(createReadFileTool({ maxBytes: 8 }), { path: "a.txt" }, context)).rejects.toThrow(
      "File too large.",
    );
  });

  test("reading a part of a huge file uses little memory", async () => {
    const context = await withFile("first\n");
    await truncate(join(context.workspace, "a.txt"), 400_000_000);
    const before = process.memoryUsage().rss;
    expect(await callForText(read, { path: "a.txt", limit: 1 }, context)).toBe(
      "[Lines 1-1 of 2]\n   1 | first",
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});

describe("images and PDF documents", () => {
  test.each([
    ["a.png", "image/png", "\x89PNG\r\n"],
    ["a.JPG", "image/jpeg", "\xff\xd8\xff"],
    ["a.jpeg", "image/jpeg", "\xff\xd8\xff"],
    ["a.gif", "image/gif", "GIF89a"],
    ["a.webp", "image/webp", "RIFF0000WEBP"],
    // The bytes decide.
    ["b.png", "image/gif", "GIF89a"],
  ])("%s [BIT-10.1-2, TOOL-16.2]", async (path, mimeType, beginning) => {
    const bytes = Buffer.from(beginning, "latin1");
    expect(await callTool(read, { path }, await withFile(bytes, path))).toEqual({
      content: [{ type: "image", data: bytes.toString("base64"), mimeType, name: path }],
      details: { path, bytes: bytes.length },
    });
  });

  test("a PDF document is a file with its pages, and an encrypted one is refused", async () => {
    expect((await callTool(read, { path: "a.pdf" }, await withFile(PDF, "a.pdf"))).content).toEqual([
      { type: "file", name: "a.pdf", mimeType: "application/pdf", data: PDF.toString("base64"), pages: 1 },
    ]);
    const encrypted = await withFile("%PDF-1.7\n<< /Encrypt 1 0 R >>", "b.pdf");
    await expect(callTool(read, { path: "b.pdf" }, encrypted)).rejects.toThrow("encrypted");
  });

  test("a text under such a name is read as a text", async () => {
    expect(await callForText(read, { path: "a.png" }, await withFile("no picture", "a.png"))).toBe(
      "[1 lines]\n   1 | no picture",
    );
  });

  test("may be larger than text, up to 20 MB", async () => {
    const context = await withFile(PNG, "a.png");
    await truncate(join(context.workspace, "a.png"), 20 * 1024 * 1024);
    expect((await callTool(read, { path: "a.png" }, context)).details).toMatchObject({
      bytes: 20 * 1024 * 1024,
    });
    await truncate(join(context.workspace, "a.png"), 20 * 1024 * 1024 + 1);
    await expect(callTool(read, { path: "a.png" }, context)).rejects.toMatchObject({
      message: "Image too large",
    });
  });

  test("an empty one is rejected: vendors would reject the whole conversation", async () => {
    await expect(callTool(read, { path: "a.png" }, await withFile("", "a.png"))).rejects.toThrow(
      "Cannot access a.png: it is empty",
    );
  });
});

describe("a path that cannot be read", () => {
  test("is named with the reason", async () => {
    const context = await withFile("x");
    await mkdir(join(context.workspace, "folder"));
    const message = async (path: string) =>
      callTool(read, { path }, context).catch((error: Error) => error.message);
    expect(await message("nope.txt")).toBe("Cannot access nope.txt: no such file or directory (ENOENT)");
    expect(await message("folder")).toBe("Cannot access folder: it is a directory");
    expect(await message("")).toBe("Cannot access : it is a directory");
    expect(await message("a.txt/b")).toBe("Cannot access a.txt/b: not a directory (ENOTDIR)");
    expect(await message("a\0b")).toBe("path: must not contain a NUL character");
  });

  test("does not hang if it is a fifo or a device", async () => {
    const context = await withFile("x");
    makeFifo(join(context.workspace, "fifo"));
    await symlink("/dev/zero", join(context.workspace, "zero"));
    await expect(callTool(read, { path: "fifo" }, context)).rejects.toThrow(
      "Cannot access fifo: it is not a regular file",
    );
    await expect(callTool(read, { path: "zero" }, context)).rejects.toThrow("zero is outside the workspace");
  });

  test("is rejected outside the allowed paths", async () => {
    const context = await withFile("x");
    await mkdir(join(context.workspace, "docs"));
    await writeFile(join(context.workspace, "docs/b.txt"), "y");
    await symlink("../a.txt", join(context.workspace, "docs/link.txt"));
    const narrow = createReadFileTool({ allowedPaths: ["docs"] });
    expect(await callForText(narrow, { path: "docs/b.txt" }, context)).toBe("[1 lines]\n   1 | y");
    await expect(callTool(narrow, { path: "a.txt" }, context)).rejects.toThrow(
      "a.txt is outside the allowed paths",
    );
    await expect(callTool(narrow, { path: "docs/link.txt" }, context)).rejects.toThrow(
      "is outside the allowed paths",
    );
  });

  test("a cancelled call reads nothing", async () => {
    const context = await withFile("x");
    await expect(
      callTool(read, { path: "a.txt" }, { ...context, signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      fault: "cancelled",
      message: "Cancelled",
    });
  });

  test("invalid arguments name the field; the summary is the path", () => {
    expect(read.parse({ path: "a", offset: 0 })).toMatchObject({
      ok: false,
      message: expect.stringContaining("offset: "),
    });
    expect(read.parse({ offset: 1 })).toMatchObject({
      ok: false,
      message: expect.stringContaining("path: "),
    });
    expect(read.summarise({ path: "a.txt" })).toBe("a.txt");
  });
});
