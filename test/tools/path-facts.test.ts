import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collectPathFacts, hasParentSegment } from "../../src/tools/workspace/path-facts.ts";
import { createTemporaryFolder } from "./tool-context.ts";

async function places() {
  const base = await realpath(await createTemporaryFolder());
  const [workspace, outside] = [join(base, "workspace"), join(base, "workspace-outside")];
  await mkdir(join(workspace, "src"), { recursive: true });
  await mkdir(outside);
  await writeFile(join(workspace, "src/a.ts"), "");
  await writeFile(join(outside, "secret"), "");
  const of = async (path: string) => {
    const { paths } = await collectPathFacts([path], workspace);
    return paths?.[0];
  };
  return { base, workspace, outside, of };
}

describe("path facts", () => {
  test("a file and the workspace itself, by relative and absolute paths [PERM-01.2]", async () => {
    const { workspace, of } = await places();
    const fact = { path: join(workspace, "src/a.ts"), isInWorkspace: true, relative: "src/a.ts" };
    expect(await of("src/a.ts")).toEqual(fact);
    expect(await of("./src/../src/a.ts")).toEqual(fact);
    expect(await of(join(workspace, "src/a.ts"))).toEqual(fact);
    expect(await of(".")).toEqual({ path: workspace, isInWorkspace: true, relative: "." });
    expect(await of("")).toEqual({ path: workspace, isInWorkspace: true, relative: "." });
  });

  test("a path that does not exist yet is located where it would be created [PERM-01.2]", async () => {
    const { workspace, of } = await places();
    expect(await of("new/deep/file")).toEqual({
      path: join(workspace, "new/deep/file"),
      isInWorkspace: true,
      relative: "new/deep/file",
    });
  });

  test("a path outside, by its text, by a sibling with a similar name, and by links [PERM-01.2]", async () => {
    const { workspace, outside, of } = await places();
    await symlink(outside, join(workspace, "link"));
    await symlink(join(outside, "not-there"), join(workspace, "dangling"));
    await symlink("../workspace-outside/not-there", join(workspace, "relative-dangling"));
    await symlink("dangling", join(workspace, "twice"));
    for (const [path, real] of [
      ["../x", join(workspace, "../x")],
      [join(outside, "secret"), join(outside, "secret")],
      ["link/secret", join(outside, "secret")],
      ["link/new/file", join(outside, "new/file")],
      ["dangling", join(outside, "not-there")],
      ["relative-dangling", join(outside, "not-there")],
      ["twice", join(outside, "not-there")],
    ] as const) {
      expect(await of(path), path).toEqual({ path: real, isInWorkspace: false });
    }
  });

  test("a path that cannot be resolved is not inside: a circle, a file as a folder, NUL, a link that steps back [PERM-01.2]", async () => {
    const { workspace, of } = await places();
    await symlink("circle", join(workspace, "circle"));
    await symlink("nowhere/../x", join(workspace, "back"));
    for (const path of ["circle", "src/a.ts/x", "a\0b", "back", "x".repeat(300)]) {
      expect(await of(path), path).toMatchObject({ isInWorkspace: false });
    }
  });

  test("a link within the workspace resolves to its target, and so does a workspace that is a link [PERM-01.2]", async () => {
    const { base, workspace, of } = await places();
    await symlink("src", join(workspace, "inner"));
    expect(await of("inner/a.ts")).toMatchObject({ isInWorkspace: true, relative: "src/a.ts" });
    await symlink(workspace, join(base, "alias"));
    const { paths } = await collectPathFacts(["src/a.ts", join(workspace, "src")], join(base, "alias"));
    expect(paths).toMatchObject([{ relative: "src/a.ts" }, { relative: "src" }]);
  });

  test("more paths than fit are truncated, and the facts say so [PERM-01.3]", async () => {
    const { workspace } = await places();
    const facts = await collectPathFacts(
      Array.from({ length: 100 }, (_, index) => `f${index}`),
      workspace,
    );
    expect(facts.isTruncated).toBe(true);
    expect(facts.paths?.length).toBeLessThanOrEqual(32);
  });

  test.each([
    ["a/../b", true],
    ["../a", false],
    ["../../a", false],
    ["./../a", false],
    [".././../a", false],
    ["a/./../b", true],
    ["a//..", true],
    ["...", false],
    ["a/..b", false],
    ["/a/..", true],
    [".a/..", true],
  ])("%s steps back: %s", (path, expected) => {
    expect(hasParentSegment(path)).toBe(expected);
  });
});
