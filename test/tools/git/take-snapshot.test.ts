import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { restoreInPlace, restoreToNewWorktree } from "../../../src/platform/git/restore-snapshot.ts";
import { buildSnapshotRef, takeSnapshot } from "../../../src/platform/git/take-snapshot.ts";

let root: string;
let repo: string;
let asked: number;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-git-")));
  repo = join(root, "repo");
  asked = 0;
  mkdirSync(repo);
  run("init", "--quiet", "--initial-branch=trunk");
  put("kept.txt", "one\n");
  put("gone.txt", "to be removed\n");
  put(".gitignore", "secret.env\nnode_modules\n");
  run("add", "--all");
  commit("first");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function run(...args: string[]): string {
  const who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...who, "-C", repo, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}
const commit = (message: string) => run("commit", "--quiet", "-m", message);
const put = (name: string, text: string) => writeFileSync(join(repo, name), text);
const read = (folder: string, name: string) => readFileSync(join(folder, name), "utf8");
/** Everything that a snapshot must leave unchanged. */
const untouched = () => ({
  index: readFileSync(join(repo, ".git", "index")).toString("hex"),
  head: read(repo, ".git/HEAD"),
  refs: run("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", "refs/stash"),
  status: run("status", "--porcelain", "--ignored"),
  locks: existsSync(join(repo, ".git", "index.lock")),
});
const take = (of: Partial<Parameters<typeof takeSnapshot>[0]> = {}) =>
  takeSnapshot({ workspace: repo, ref: buildSnapshotRef("s", "main", asked++), message: "a turn", ...of });
async function taken(of: Parameters<typeof take>[0] = {}): Promise<string> {
  const made = await take(of);
  if (made.type !== "taken") throw new Error(JSON.stringify(made));
  return made.commit;
}

/** What an agent may have left: changed, staged, untracked, deleted and ignored files. */
function workedOn(): void {
  put("kept.txt", "two\n");
  put("staged.txt", "staged\n");
  run("add", "staged.txt");
  put("staged.txt", "staged, then changed\n");
  put("new file ü.txt", "untracked\n");
  rmSync(join(repo, "gone.txt"));
  put("secret.env", "KEY=1\n");
}

describe("a snapshot of a workspace", () => {
  test("contains the current files, and changes neither index nor branches nor files", async () => {
    workedOn();
    const before = untouched();
    const made = await take();
    expect(untouched()).toEqual(before);
    expect(made).toEqual({
      type: "taken",
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      ref: "refs/holdfast/s/main/0",
    });
    const commitId = made.type === "taken" ? made.commit : "";
    expect(run("-c", "core.quotePath=false", "ls-tree", "--name-only", commitId).trim().split("\n")).toEqual([
      ".gitignore",
      "kept.txt",
      "new file ü.txt",
      "staged.txt",
    ]);
    expect(run("show", `${commitId}:kept.txt`)).toBe("two\n");
    expect(run("show", `${commitId}:staged.txt`)).toBe("staged, then changed\n");
    expect(run("rev-parse", `${commitId}^`)).toBe(run("rev-parse", "HEAD"));
    expect(run("branch", "--all", "--format=%(refname)").trim()).toBe("refs/heads/trunk");
    // A commit that nothing else refers to is protected from garbage collection.
    run("gc", "--prune=now", "--quiet");
    expect(run("cat-file", "-t", commitId).trim()).toBe("commit");
  });

  test("is the previous one if nothing has changed since", async () => {
    workedOn();
    const first = await taken();
    expect(await take({ previous: first })).toEqual({ type: "unchanged", commit: first });
    put("kept.txt", "three\n");
    expect(await take({ previous: first })).toMatchObject({ type: "taken" });
    expect(run("for-each-ref", "refs/holdfast").trim().split("\n")).toHaveLength(2);
  });

  test("can be taken of a folder within a repository, of a repository without commits, and of a linked work tree", async () => {
    mkdirSync(join(repo, "part"));
    put("part/own.txt", "own\n");
    put("other.txt", "not of this workspace\n");
    const part = await taken({ workspace: join(repo, "part") });
    expect(run("ls-tree", "-r", "--name-only", part).trim().split("\n")).toEqual([
      ".gitignore",
      "gone.txt",
      "kept.txt",
      "part/own.txt",
    ]);
    const linked = join(root, "linked");
    run("worktree", "add", "--quiet", "--detach", linked);
    writeFileSync(join(linked, "there.txt"), "there\n");
    const index = readFileSync(join(repo, ".git", "worktrees", "linked", "index"));
    expect(run("show", `${await taken({ workspace: linked })}:there.txt`)).toBe("there\n");
    expect(readFileSync(join(repo, ".git", "worktrees", "linked", "index")).equals(index)).toBe(true);
    const fresh = join(root, "fresh");
    execFileSync("git", ["init", "--quiet", fresh]);
    writeFileSync(join(fresh, "a.txt"), "a\n");
    expect(await take({ workspace: fresh })).toMatchObject({ type: "taken" });
    expect(existsSync(join(fresh, ".git", "index"))).toBe(false);
  });

  test("is not taken, with the reason: no repository, too much, too long, a program that would run", async () => {
    expect(await take({ workspace: root })).toEqual({
      type: "none",
      problem: expect.stringContaining("not in a git repository"),
    });
    expect(await take({ workspace: join(root, "nowhere") })).toMatchObject({ type: "none" });
    workedOn();
    const bounds = { maxBytes: 10, maxFiles: 100 };
    expect(await take({ bounds })).toEqual({
      type: "none",
      problem: expect.stringContaining("add files that need no snapshot to .gitignore"),
    });
    expect(await take({ bounds: { maxBytes: 1e6, maxFiles: 1 } })).toMatchObject({
      problem: expect.stringContaining("more than 1"),
    });
    expect(await take({ signal: AbortSignal.abort() })).toMatchObject({
      type: "none",
      problem: expect.stringContaining("took longer"),
    });
    const before = untouched();
    const mark = join(root, "ran");
    put(".gitattributes", "* filter=own\n");
    run("config", "filter.own.clean", `sh -c 'touch ${mark}; cat'`);
    expect(await take()).toEqual({
      type: "none",
      problem: expect.stringContaining("contains a program to run (filter.own.clean)"),
    });
    run("config", "--remove-section", "filter.own");
    run("config", "core.fsmonitor", `touch ${mark}`);
    for (const hook of ["reference-transaction", "post-checkout", "post-index-change"]) {
      writeFileSync(join(repo, ".git", "hooks", hook), `#!/bin/sh\ntouch ${mark}\n`);
      chmodSync(join(repo, ".git", "hooks", hook), 0o755);
    }
    const commitId = await taken();
    await restoreToNewWorktree({ commit: commitId, workspace: repo }, join(root, "beside"));
    expect(existsSync(mark)).toBe(false);
    expect(untouched().index).toBe(before.index);
  });

  test("has a valid reference for any session id", () => {
    for (const session of ["a b~^:?*[", "..", "x.lock", "é@{1}"]) {
      expect(() => run("check-ref-format", buildSnapshotRef(session, "main", 3))).not.toThrow();
    }
  });
});

describe("restoring a snapshot", () => {
  test("into a new folder gives the files as they were, and leaves the workspace, its index and branches unchanged", async () => {
    mkdirSync(join(repo, "part"));
    workedOn();
    put("part/own.txt", "own\n");
    const commitId = await taken();
    put("kept.txt", "later\n");
    put("later.txt", "later\n");
    commit("later");
    const before = untouched();
    const folder = join(root, "again");
    expect(await restoreToNewWorktree({ commit: commitId, workspace: join(repo, "part") }, folder)).toBe(
      join(folder, "part"),
    );
    expect(untouched()).toEqual(before);
    expect(read(folder, "kept.txt")).toBe("two\n");
    expect(read(folder, "new file ü.txt")).toBe("untracked\n");
    expect([existsSync(join(folder, "gone.txt")), existsSync(join(folder, "later.txt"))]).toEqual([
      false,
      false,
    ]);
    await expect(restoreToNewWorktree({ commit: commitId, workspace: repo }, folder)).rejects.toThrow(
      /already exists/,
    );
    await expect(
      restoreToNewWorktree({ commit: "0".repeat(40), workspace: repo }, join(root, "x")),
    ).rejects.toThrow(/no longer contains/);
  });

  test("in place restores files that were changed, deleted or added since, if nothing is lost by it", async () => {
    const first = await taken();
    workedOn();
    await expect(restoreInPlace({ commit: first, workspace: repo }, [first])).rejects.toThrow(
      /neither committed nor part of/,
    );
    expect(read(repo, "kept.txt")).toBe("two\n");
    const second = await taken();
    const index = untouched().index;
    expect(await restoreInPlace({ commit: first, workspace: repo }, [first, second])).toBe(repo);
    expect([read(repo, "kept.txt"), read(repo, "gone.txt")]).toEqual(["one\n", "to be removed\n"]);
    expect([existsSync(join(repo, "staged.txt")), existsSync(join(repo, "new file ü.txt"))]).toEqual([
      false,
      false,
    ]);
    expect(read(repo, "secret.env")).toBe("KEY=1\n");
    expect(untouched().index).toBe(index);
    await restoreInPlace({ commit: second, workspace: repo }, [first, second]);
    expect([read(repo, "kept.txt"), read(repo, "staged.txt")]).toEqual(["two\n", "staged, then changed\n"]);
    expect(existsSync(join(repo, "gone.txt"))).toBe(false);
    expect(run("show", `${second}:new file ü.txt`)).toBe(read(repo, "new file ü.txt"));
  });
});
