import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findHiddenPaths } from "../../../src/platform/sandbox/find-hidden-paths.ts";
import { findProtectedPaths } from "../../../src/platform/sandbox/find-protected-paths.ts";
import { createTemporaryFolder } from "../../tools/tool-context.ts";

describe("protected paths", () => {
  test("are the files that others run or obey", async () => {
    const folder = await createTemporaryFolder();
    await mkdir(join(folder, ".git/hooks"), { recursive: true });
    await mkdir(join(folder, ".git/modules/sub/hooks"), { recursive: true });
    await mkdir(join(folder, ".vscode"));
    for (const name of [
      ".git/config",
      ".mcp.json",
      ".bashrc",
      "agent.toml",
      "review.agent.yaml",
      "agents.toml",
      "README.md",
    ]) {
      await writeFile(join(folder, name), "");
    }
    const { protectedPaths, links, missing } = await findProtectedPaths(folder);
    expect(protectedPaths.map((path) => path.slice(folder.length + 1)).sort()).toEqual([
      ".bashrc",
      ".git/config",
      ".git/hooks",
      ".git/modules/sub/hooks",
      ".mcp.json",
      ".vscode",
      "agent.toml",
      "review.agent.yaml",
    ]);
    expect(links).toEqual([]);
    expect(missing).toContain(join(folder, ".zshrc"));
  });

  test("are not searched behind symbolic links", async () => {
    const folder = await createTemporaryFolder();
    const outside = await createTemporaryFolder();
    await mkdir(join(outside, "hooks"));
    await symlink(outside, join(folder, ".git"));
    await symlink("/etc/passwd", join(folder, ".mcp.json"));
    expect(await findProtectedPaths(folder)).toMatchObject({
      protectedPaths: [],
      links: [join(folder, ".git"), join(folder, ".mcp.json")],
    });
  });

  test("contain the file that leads a worktree to its repository", async () => {
    const folder = await createTemporaryFolder();
    await writeFile(join(folder, ".git"), "gitdir: /elsewhere\n");
    expect((await findProtectedPaths(folder)).protectedPaths).toEqual([join(folder, ".git")]);
  });

  test("of a folder that does not exist are none", async () => {
    expect((await findProtectedPaths("/no/such/folder")).protectedPaths).toEqual([]);
  });
});

test("hidden paths exist, are listed once, and lead where links lead", async () => {
  const home = await createTemporaryFolder();
  const keys = await createTemporaryFolder();
  await symlink(keys, join(home, ".ssh"));
  await writeFile(join(home, ".netrc"), "");
  const hidden = await findHiddenPaths(home);
  expect(hidden).toEqual(
    expect.arrayContaining([
      { path: home, type: "folder" },
      { path: keys, type: "folder" },
      { path: join(home, ".netrc"), type: "file" },
    ]),
  );
  expect(new Set(hidden.map(({ path }) => path)).size).toBe(hidden.length);
});
