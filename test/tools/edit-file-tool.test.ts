import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEditFileTool } from "../../src/tools/builtin/edit-file-tool.ts";
import {
  callForText,
  callTool,
  createContext,
  createMemoryMemo,
  createTemporaryFolder,
} from "./tool-context.ts";

const edit = createEditFileTool();

async function withFile(content: string | Buffer) {
  const workspace = await createTemporaryFolder();
  const file = join(workspace, "a.txt");
  await writeFile(file, content);
  return { workspace, file, content: () => readFile(file, "utf8") };
}

const change = (old_text: string, new_text: string, path = "a.txt") => ({ path, old_text, new_text });

describe("an edit", () => {
  test("replaces the only match and reports the numbers of lines [TOOL-16.4]", async () => {
    const { workspace, content } = await withFile("one\ntwo\nthree\n");
    const { content: answer, details } = await callTool(
      edit,
      change("two\n", "2\n2b\n"),
      createContext(workspace),
    );
    expect(answer).toEqual([{ type: "text", text: "Replaced 1 line(s) with 2 line(s) in a.txt" }]);
    expect(details).toMatchObject({
      path: "a.txt",
      old_lines: 1,
      new_lines: 2,
      sha256_before: expect.stringMatching(/^[0-9a-f]{64}$/),
      sha256_after: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await content()).toBe("one\n2\n2b\nthree\n");
  });

  test("requires path, old_text and new_text, and exactly one match [BIT-13.1-3]", async () => {
    for (const missing of ["path", "old_text", "new_text"] as const) {
      const { [missing]: _, ...rest } = change("a", "b");
      expect(edit.parse(rest)).toMatchObject({
        ok: false,
        message: expect.stringMatching(new RegExp(`^${missing}: `)),
      });
    }
    const { workspace, content } = await withFile("one\ntwo\none\n");
    const context = createContext(workspace);
    await expect(callTool(edit, change("three", "x"), context)).rejects.toMatchObject({ fault: "failed" });
    await expect(callTool(edit, change("one", "x"), context)).rejects.toMatchObject({ fault: "failed" });
    expect(await content()).toBe("one\ntwo\none\n");
    expect(await callForText(edit, change("two\none\n", "2"), context)).toBe(
      "Replaced 2 line(s) with 1 line(s) in a.txt",
    );
    expect(await content()).toBe("one\n2");
  });

  test("may delete text, and treats replacement patterns as plain text", async () => {
    const { workspace, content } = await withFile("a-b-c");
    expect(await callForText(edit, change("-b", ""), createContext(workspace))).toBe(
      "Replaced 1 line(s) with 0 line(s) in a.txt",
    );
    await callTool(edit, change("c", "$& $1 $$"), createContext(workspace));
    expect(await content()).toBe("a-$& $1 $$");
  });

  test("preserves the file mode, and bytes that are not text", async () => {
    const { workspace, file } = await withFile(Buffer.from([0xff, 0x61, 0x00, 0xfe]));
    await chmod(file, 0o755);
    await callTool(edit, change("a", "b"), createContext(workspace));
    expect([...(await readFile(file))]).toEqual([0xff, 0x62, 0x00, 0xfe]);
    expect((await stat(file)).mode & 0o777).toBe(0o755);
    expect(await readdir(workspace)).toEqual(["a.txt"]);
  });

  test("matches and preserves Windows line endings", async () => {
    const { workspace, content } = await withFile("a\r\nb\r\nc\r\n");
    await callTool(edit, change("a\nb\n", "x\ny\nz\n"), createContext(workspace));
    expect(await content()).toBe("x\r\ny\r\nz\r\nc\r\n");
  });

  test("follows a link within the workspace", async () => {
    const { workspace, content } = await withFile("a");
    await mkdir(join(workspace, "sub"));
    await symlink("../a.txt", join(workspace, "sub/link"));
    await callTool(edit, change("a", "b", "sub/link"), createContext(workspace));
    expect(await content()).toBe("b");
  });
});

describe("an edit is rejected", () => {
  const refusal = async (content: string, old_text: string) => {
    const { workspace, content: now } = await withFile(content);
    const outcome = await callTool(edit, change(old_text, "new"), createContext(workspace)).catch(
      (error: Error) => error.message,
    );
    expect(await now()).toBe(content);
    return outcome;
  };

  test("if there is no such file [BIT-14]", async () => {
    const workspace = await createTemporaryFolder();
    await mkdir(join(workspace, "folder"));
    for (const path of ["nope.txt", "no/such/folder.txt", "folder", "."]) {
      await expect(callTool(edit, change("a", "b", path), createContext(workspace))).rejects.toMatchObject({
        fault: "failed",
        message: `Cannot read ${path}. Use write_file to create new files.`,
      });
    }
    expect(await readdir(workspace)).toEqual(["folder"]);
  });

  test("if the text occurs more than once, even at overlapping positions [BIT-16]", async () => {
    expect(await refusal("ab ab ab", "ab")).toBe(
      "old_text matches 3 locations. Include more context to make match unique.",
    );
    expect(await refusal("aaa", "aa")).toBe(
      "old_text matches 2 locations. Include more context to make match unique.",
    );
  });

  describe("if there is no match", () => {
    test("with a hint if a line resembles the first line of the text [BIT-15.1]", async () => {
      expect(await refusal("zero\n    if (a) {\n      b();\n    }\nend\n", "if (a) {\n  b();\n")).toBe(
        "old_text not found in a.txt.\n\nDid you mean:\n```\n    if (a) {\n      b();\n    }\n```\n" +
          "old_text must match exactly, including whitespace and indentation.",
      );
    });

    test("with a tip if no line does [BIT-15.2]", async () => {
      const tip =
        "old_text not found in a.txt.\n\nTip: Use read_file to see the current contents of the file.";
      expect(await refusal("one\n", "two")).toBe(tip);
      expect(await refusal("one\n", "\n\n")).toBe(tip);
    });
  });

  test("if the old text is empty", () => {
    expect(edit.parse(change("", "x"))).toEqual({
      ok: false,
      message: "old_text: must not be empty; use write_file to create a file",
    });
  });

  test("if it is cancelled, with the file untouched at every step", async () => {
    const { workspace, content } = await withFile("a");
    for (let looks = 0; ; looks += 1) {
      let left = looks;
      const signal = {
        get aborted() {
          left -= 1;
          return left < 0;
        },
      } as AbortSignal;
      const outcome = await callTool(edit, change("a", "b"), createContext(workspace, { signal })).catch(
        (error) => error.message,
      );
      if (typeof outcome !== "string") break;
      expect([outcome, await content(), await readdir(workspace)]).toEqual(["Cancelled", "a", ["a.txt"]]);
      expect(looks).toBeLessThan(20);
    }
    expect(await content()).toBe("b");
  });
});

describe("a second execution of the same call", () => {
  test("returns the same result and edits once, even if the new text contains the old", async () => {
    const { workspace, content } = await withFile("start X end");
    const context = createContext(workspace, { memo: createMemoryMemo() });
    const first = await callTool(edit, change("X", "XX"), context);
    expect(await callTool(edit, change("X", "XX"), context)).toEqual(first);
    expect(await content()).toBe("start XX end");
  });

  test("makes the edit that the first one had only announced", async () => {
    const { workspace, content } = await withFile("a");
    const memo = createMemoryMemo();
    const context = createContext(workspace, { memo });
    const announced = new Error("died after the note");
    const dying = {
      ...memo,
      set: async (text: string) => {
        await memo.set(text);
        throw announced;
      },
    };
    await expect(callTool(edit, change("a", "b"), { ...context, memo: dying })).rejects.toBe(announced);
    expect(await content()).toBe("a");
    expect(await callForText(edit, change("a", "b"), context)).toBe(
      "Replaced 1 line(s) with 1 line(s) in a.txt",
    );
    expect(await content()).toBe("b");
  });

  test("does not touch a file that something else has changed since", async () => {
    const { workspace, file, content } = await withFile("a");
    const context = createContext(workspace, { memo: createMemoryMemo() });
    await callTool(edit, change("a", "b"), context);
    await writeFile(file, "a and more");
    await expect(callTool(edit, change("a", "b"), context)).rejects.toMatchObject({
      fault: "failed",
      message:
        "a.txt was changed by something else since this edit was first attempted. " +
        "Use read_file to check whether it contains the edit.",
    });
    expect(await content()).toBe("a and more");
  });

  test("relies on a note that is stored before the file changes", async () => {
    const { workspace, content } = await withFile("a");
    const seen: string[] = [];
    const memo = {
      get: async () => undefined,
      set: async () => {
        seen.push(await content());
      },
    };
    await callTool(edit, change("a", "b"), createContext(workspace, { memo }));
    expect(seen).toEqual(["a"]);
  });
});

describe("concurrent changes", () => {
  test("edits of one file in one process are all applied", async () => {
    const { workspace, content } = await withFile(
      Array.from({ length: 30 }, (_, index) => `<${index}>`).join("\n"),
    );
    await symlink("a.txt", join(workspace, "link"));
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        callTool(
          edit,
          change(`<${index}>`, `[${index}]`, index % 2 ? "link" : "a.txt"),
          createContext(workspace),
        ),
      ),
    );
    expect(await content()).toBe(Array.from({ length: 30 }, (_, index) => `[${index}]`).join("\n"));
  });

  test("a change between reading and writing is not overwritten", async () => {
    const { workspace, file, content } = await withFile("a");
    const memo = { get: async () => undefined, set: () => writeFile(file, "a, changed") };
    await expect(callTool(edit, change("a", "b"), createContext(workspace, { memo }))).rejects.toThrow(
      "Cannot edit a.txt: it was changed by something else at the same time; read it and try again",
    );
    expect(await content()).toBe("a, changed");
    expect(await readdir(workspace)).toEqual(["a.txt"]);
  });
});
