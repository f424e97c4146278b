import { link, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDefaultTools } from "../../src/tools/builtin/default-tools.ts";
import type { ExecutableTool } from "../../src/tools/tool.ts";
import { isThorough } from "../support/test-depth.ts";
import { callForText, callTool, createContext, createTemporaryFolder } from "./tool-context.ts";

const [, read, write, edit, list, search] = createDefaultTools() as [
  ExecutableTool,
  ExecutableTool,
  ExecutableTool,
  ExecutableTool,
  ExecutableTool,
  ExecutableTool,
];

/** A workspace next to a folder that must stay out of reach. */
async function withOutside() {
  const base = await createTemporaryFolder();
  const [workspace, outside] = [join(base, "workspace"), join(base, "workspace-outside")];
  await mkdir(workspace);
  await mkdir(outside);
  await writeFile(join(outside, "secret.txt"), "SECRET\n");
  return { workspace, outside, context: createContext(workspace) };
}

const EACH_TOOL: [string, (path: string) => [ExecutableTool, unknown]][] = [
  ["read_file", (path) => [read, { path: join(path, "secret.txt") }]],
  ["write_file", (path) => [write, { path: join(path, "secret.txt"), content: "changed" }]],
  ["write_file of a new file", (path) => [write, { path: join(path, "new/file.txt"), content: "changed" }]],
  [
    "edit_file",
    (path) => [edit, { path: join(path, "secret.txt"), old_text: "SECRET", new_text: "changed" }],
  ],
  ["list_files", (path) => [list, { path }]],
  ["search", (path) => [search, { path, pattern: "SECRET" }]],
  ["search in a file", (path) => [search, { path: join(path, "secret.txt"), pattern: "SECRET" }]],
];

describe.each(EACH_TOOL)("%s stays in the workspace", (_, request) => {
  async function refusal(
    path: (outside: string) => string,
    prepare?: (workspace: string, outside: string) => Promise<void>,
  ) {
    const { workspace, outside, context } = await withOutside();
    await prepare?.(workspace, outside);
    const error = await callTool(...request(path(outside)), context).catch((thrown) => thrown);
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    return error;
  }

  const refused = {
    fault: "failed",
    message: expect.stringContaining(" is outside the workspace; use a path inside "),
  };

  test("given a path with ..", async () => {
    expect(await refusal(() => "../workspace-outside")).toMatchObject(refused);
    expect(await refusal(() => "x/../../workspace-outside")).toMatchObject(refused);
  });

  test("given an absolute path, even one that begins with the workspace's name", async () => {
    expect(await refusal((outside) => outside)).toMatchObject(refused);
  });

  test("given a symbolic link to a folder", async () => {
    const prepare = (workspace: string, outside: string) => symlink(outside, join(workspace, "link"));
    expect(await refusal(() => "link", prepare)).toMatchObject(refused);
  });

  test("given a chain of relative links", async () => {
    expect(
      await refusal(
        () => "a/b",
        async (workspace) => {
          await mkdir(join(workspace, "a"));
          await symlink("../c", join(workspace, "a/b"));
          await symlink("a/../../workspace-outside", join(workspace, "c"));
        },
      ),
    ).toMatchObject(refused);
  });
});

test("a symbolic link to a file outside is rejected, and skipped by searches", async () => {
  const { workspace, outside, context } = await withOutside();
  await symlink(join(outside, "secret.txt"), join(workspace, "link"));
  for (const [tool, parameters] of [
    [read, { path: "link" }],
    [write, { path: "link", content: "changed" }],
    [edit, { path: "link", old_text: "SECRET", new_text: "changed" }],
    [search, { path: "link", pattern: "SECRET" }],
  ] as const) {
    await expect(callTool(tool, parameters, context)).rejects.toThrow("link is outside the workspace");
  }
  expect(await callForText(search, { pattern: "SECRET" }, context)).toBe("No matches found");
  expect(await callForText(list, {}, context)).toBe("No files found");
  expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
});

test("writing to a link whose target outside does not exist creates nothing", async () => {
  const { workspace, outside, context } = await withOutside();
  await symlink(join(outside, "new.txt"), join(workspace, "link"));
  await expect(callTool(write, { path: "link", content: "changed" }, context)).rejects.toThrow(
    /^Cannot write link: /,
  );
  expect(await readdir(outside)).toEqual(["secret.txt"]);
});

test("a hard link to a file outside is replaced in the workspace, and the file outside is unchanged", async () => {
  const { workspace, outside, context } = await withOutside();
  await link(join(outside, "secret.txt"), join(workspace, "hard"));
  await callTool(write, { path: "hard", content: "changed" }, context);
  expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
});

test("a workspace that is named through a link accepts paths under either name", async () => {
  const { workspace } = await withOutside();
  await symlink("workspace", join(workspace, "../by-link"));
  const context = createContext(join(workspace, "../by-link"));
  await callTool(write, { path: "a/b.txt", content: "x" }, context);
  expect(await callForText(read, { path: join(workspace, "a/b.txt") }, context)).toBe("[1 lines]\n   1 | x");
  expect(await callForText(read, { path: join(workspace, "../by-link/a/b.txt") }, context)).toBe(
    "[1 lines]\n   1 | x",
  );
  expect(await callForText(read, { path: "a/../a/b.txt" }, context)).toBe("[1 lines]\n   1 | x");
});

/** A thread that makes `name` a folder, a link to the outside, and nothing, in turn and as fast as it can. */
async function swapInALoop(workspace: string, outside: string, name: string): Promise<() => Promise<void>> {
  const thread = new Worker(
    `const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
     const { workerData: { name, outside, stopped }, parentPort } = require("node:worker_threads");
     const attempt = (work) => { try { work(); } catch {} };
     for (let round = 0; Atomics.load(stopped, 0) === 0; round += 1) {
       attempt(() => renameSync(name, name + "-aside"));
       attempt(() => symlinkSync(outside, name));
       if (round === 0) parentPort.postMessage("swapping");
       attempt(() => unlinkSync(name));
       attempt(() => renameSync(name + "-aside", name));
     }`,
    {
      eval: true,
      workerData: { name: join(workspace, name), outside, stopped: new Int32Array(new SharedArrayBuffer(4)) },
    },
  );
  await new Promise((resolve) => thread.once("message", resolve));
  const stop = async () => void (await thread.terminate());
  onTestFinished(stop);
  return stop;
}

/** Runs the call until it has succeeded and been rejected many times each, or until the time is up. */
async function hammer(work: (round: number) => Promise<unknown>): Promise<{ done: number; refused: number }> {
  const seen = { done: 0, refused: 0 };
  const [many, limitMs] = isThorough ? [30, 8_000] : [10, 2_000];
  const endAt = performance.now() + limitMs;
  for (let round = 0; (seen.done < many || seen.refused < many) && performance.now() < endAt; round += 1) {
    await work(round).then(
      () => {
        seen.done += 1;
      },
      (error: Error) => {
        if (error.message.includes("is outside the workspace")) seen.refused += 1;
      },
    );
  }
  return seen;
}

describe("while a folder is being swapped for a link", { timeout: 30_000 }, () => {
  test("writes reach the workspace or nothing", async () => {
    const { workspace, outside, context } = await withOutside();
    await mkdir(join(workspace, "d"));
    const stop = await swapInALoop(workspace, outside, "d");
    const { done } = await hammer((round) => {
      const path = round % 2 === 0 ? `d/file-${round % 10}.txt` : `d/sub-${round % 10}/file.txt`;
      return callTool(write, { path, content: `content ${round}` }, createContext(workspace));
    });
    await stop();
    expect(done).toBeGreaterThan(0);
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
    expect(context.workspace).toBe(workspace);
  });

  test("edits change only files in the workspace", async () => {
    const { workspace, outside } = await withOutside();
    await mkdir(join(workspace, "d"));
    await writeFile(join(workspace, "d/secret.txt"), "SECRET inside");
    const stop = await swapInALoop(workspace, outside, "d");
    const { done } = await hammer(() =>
      callTool(
        edit,
        { path: "d/secret.txt", old_text: "SECRET", new_text: "SECRET" },
        createContext(workspace),
      ),
    );
    await stop();
    expect(done).toBeGreaterThan(0);
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
  });

  test("reads and searches never see files outside", async () => {
    const { workspace, outside } = await withOutside();
    await mkdir(join(workspace, "d"));
    await writeFile(join(workspace, "d/secret.txt"), "public\n");
    const stop = await swapInALoop(workspace, outside, "d");
    const { done, refused } = await hammer(async (round) => {
      const context = createContext(workspace);
      const text =
        round % 20 === 0
          ? await callForText(search, { path: "d", pattern: "." }, context)
          : await callForText(read, { path: "d/secret.txt" }, context);
      expect(text).not.toContain("SECRET");
    });
    await stop();
    expect(done).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });
});

test("no call leaves a file open, whether it succeeds or fails", async () => {
  const { workspace, context } = await withOutside();
  await mkdir(join(workspace, "d"));
  await symlink("/", join(workspace, "root"));
  // Other files of this process open and close: only those that these calls may have opened are listed.
  const openFiles = async () => {
    const targets = (await readdir("/proc/self/fd")).map((fd) =>
      readlink(`/proc/self/fd/${fd}`).catch(() => ""),
    );
    return (await Promise.all(targets)).filter(
      (path) => path.startsWith(workspace) || path.startsWith("/etc/"),
    );
  };
  const round = async () => {
    await callTool(write, { path: "d/new/a.txt", content: "x" }, context);
    await callTool(edit, { path: "d/new/a.txt", old_text: "x", new_text: "y" }, context);
    await callTool(read, { path: "d/new/a.txt" }, context);
    await callTool(list, {}, context);
    await callTool(search, { pattern: "y", path: "d/new/a.txt" }, context);
    for (const path of ["nope/a", "root/etc/passwd", "d", "root", "d/new/a.txt/b"]) {
      for (const tool of [read, edit, list, search]) {
        await callTool(tool, { path, old_text: "a", new_text: "b", pattern: "zzz" }, context).catch(() => {});
      }
      if (path !== "nope/a") await callTool(write, { path, content: "" }, context).catch(() => {});
    }
  };
  for (let rounds = 0; rounds < 4; rounds += 1) await round();
  expect(await openFiles()).toEqual([]);
});
