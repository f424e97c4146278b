import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readChangeSet } from "../../../src/apps/git/changes/read-change-set.ts";
import { findCommittedChange, findMadeCommit } from "../../../src/apps/git/commit/find-made-commit.ts";
import { type CommitPlan, planCommit } from "../../../src/apps/git/commit/plan-commit.ts";
import { readIdentity } from "../../../src/apps/git/commit/read-identity.ts";
import type { Signature } from "../../../src/apps/git/commit/signature.ts";
import { writeCommit } from "../../../src/apps/git/commit/write-commit.ts";
import { withRepository } from "../../../src/apps/git/repository/repository.ts";
import { TrapPlace } from "./traps/trap.ts";

const ME: Signature = { name: "Mö O'Neil", email: "me@example.com", time: 1_700_000_000, zone: "+0530" };
const MESSAGE = "Add a file\n\nIts body.\n\n# not a comment\n";

let place: TrapPlace;
beforeEach(() => {
  place = new TrapPlace();
});
afterEach(() => place.remove());

const head = () => place.git(["rev-parse", "HEAD"]);

async function plan(isAmend = false): Promise<CommitPlan> {
  const planned = await withRepository(place.top, {}, async (one) => await planCommit(one, { isAmend }));
  if (planned.type !== "planned") throw new Error(planned.message);
  return planned.plan;
}

const write = async (of: CommitPlan, message = MESSAGE, author = ME) =>
  await withRepository(
    place.top,
    {},
    async (one) => await writeCommit(one, { plan: of, message, author, committer: ME }),
  );

describe("a commit", () => {
  test("is the one that git makes of the same index, message, people and dates", async () => {
    const before = head();
    const result = await write(await plan());
    const expected = place.git(["commit-tree", place.git(["write-tree"]), "-p", before], {
      input: MESSAGE,
      env: {
        GIT_AUTHOR_NAME: ME.name,
        GIT_AUTHOR_EMAIL: ME.email,
        GIT_AUTHOR_DATE: `${ME.time} ${ME.zone}`,
        GIT_COMMITTER_NAME: ME.name,
        GIT_COMMITTER_EMAIL: ME.email,
        GIT_COMMITTER_DATE: `${ME.time} ${ME.zone}`,
      },
    });
    expect(result).toEqual({ type: "committed", commit: expected, wasThere: false });
    expect(place.git(["rev-parse", "main"])).toBe(expected);
    expect(place.git(["log", "-1", "--format=%B"])).toBe(MESSAGE.trim());
    expect(place.git(["status", "--porcelain"])).toBe("M f.txt");
    expect(place.git(["reflog", "-1", "--format=%gs", "main"])).toBe("commit: Add a file");
    expect(place.git(["reflog", "-1", "--format=%gs", "HEAD"])).toBe("commit: Add a file");
    expect(place.git(["fsck", "--strict"])).toBe("");
  });

  test("that is made again is the same, even if others follow it or more is staged by then", async () => {
    const of = await plan();
    const first = await write(of);
    if (first.type !== "committed") throw new Error(first.message);
    const again = { type: "committed", commit: first.commit, wasThere: true };
    place.git(["add", "f.txt"]);
    expect(await write(of)).toEqual(again);
    place.git(["commit", "--quiet", "-m", "later"]);
    expect(await write(of)).toEqual(again);
    expect(place.git(["rev-list", "--count", "HEAD"])).toBe("4");
  });

  test("is refused if the branch has moved, another is checked out, or other changes are staged", async () => {
    const of = await plan();
    place.git(["add", "f.txt"]);
    expect(await write(of)).toMatchObject({ type: "refused", reason: "index-changed" });
    place.git(["checkout", "--quiet", "-b", "other"]);
    expect(await write(of)).toMatchObject({ type: "refused", reason: "branch-moved" });
    place.git(["checkout", "--quiet", "main"]);
    place.git(["commit", "--quiet", "-m", "theirs"]);
    const theirs = head();
    expect(await write(of)).toMatchObject({ type: "refused", reason: "branch-moved" });
    expect(head()).toBe(theirs);
  });

  test("is refused while another git holds the lock of the branch or of HEAD, which the message names", async () => {
    const lock = join(place.top, ".git/refs/heads/main.lock");
    const of = await plan();
    writeFileSync(lock, "");
    const result = await write(of);
    expect(result).toMatchObject({ reason: "locked", message: expect.stringContaining(lock) });
    rmSync(lock);
    place.git(["checkout", "--quiet", "--detach"]);
    const detached = await plan();
    writeFileSync(join(place.top, ".git/HEAD.lock"), "");
    expect(await write(detached)).toMatchObject({ reason: "locked" });
    expect(place.git(["rev-list", "--count", "--all"])).toBe("2");
  });

  test("amends the last one: its parents and its author stay, also of a merge", async () => {
    place.git(["commit", "--quiet", "-m", "staged"]);
    place.git(["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    place.write("side.txt", "side\n");
    place.git(["add", "side.txt"]);
    place.git(["commit", "--quiet", "-m", "side", "--author", "B <b@example.com>"]);
    place.git(["merge", "--quiet", "--no-edit", "main"]);
    const parents = place.git(["rev-parse", "HEAD^@"]);
    const of = await plan(true);
    expect(of.author).toMatchObject({ name: "A", email: "a@example.com" });
    const result = await write(of, MESSAGE, of.author);
    expect(result).toMatchObject({ type: "committed", commit: head() });
    expect(place.git(["rev-parse", "HEAD^@"])).toBe(parents);
    expect(place.git(["log", "-1", "--format=%an %cn %s"])).toBe(`A ${ME.name} Add a file`);
    expect(await write(of, MESSAGE, of.author)).toMatchObject({ wasThere: true });
  });

  test("that an earlier process has made is found, also under others and with another tree, and no other commit is", async () => {
    const of = await plan();
    const request = { plan: of, author: ME, committer: ME };
    const find = async () =>
      await withRepository(place.top, {}, async (one) => await findMadeCommit(one, request));
    expect(await find()).toBeUndefined();
    place.git(["commit", "--quiet", "-m", "theirs"]);
    expect(await find()).toBeUndefined();
    place.git(["reset", "--quiet", "--hard", "HEAD~1"]);
    const made = await write({ ...of, tree: place.git(["rev-parse", "HEAD^{tree}"]) });
    if (made.type !== "committed") throw new Error(made.message);
    expect(await find()).toBe(made.commit);
    place.git(["commit", "--quiet", "--allow-empty", "-m", "later"]);
    expect(await find()).toBe(made.commit);
    const change = await withRepository(
      place.top,
      {},
      async (one) => await findCommittedChange(one, request),
    );
    expect(change).toEqual({ type: "commits", from: of.head, to: made.commit });
  });

  test("moves a HEAD that names a commit, and no branch", async () => {
    place.git(["checkout", "--quiet", "--detach"]);
    const of = await plan();
    const result = await write(of);
    expect(result).toMatchObject({ type: "committed", commit: head(), wasThere: false });
    expect(readFileSync(join(place.top, ".git/HEAD"), "utf8")).toBe(`${head()}\n`);
    expect(place.git(["rev-parse", "main"])).toBe(of.head);
    expect(place.git(["reflog", "-1", "--format=%gs", "HEAD"])).toBe("commit: Add a file");
    expect(await write(of)).toMatchObject({ wasThere: true });
    place.git(["checkout", "--quiet", "main"]);
    expect(await write(of)).toMatchObject({ reason: "branch-moved" });
  });

  test("is the first one of a new repository", async () => {
    const folder = join(place.folder, "new");
    place.git(["init", "--quiet", "--initial-branch=trunk", folder], { cwd: place.folder });
    const open = async () => await withRepository(folder, {}, planCommit);
    expect(await open()).toMatchObject({ type: "refused", reason: "nothing-staged" });
    place.write(join(folder, "a"), "a\n", "/");
    place.git(["add", "a"], { cwd: folder });
    const planned = await open();
    if (planned.type !== "planned") throw new Error(planned.message);
    const request = { plan: planned.plan, message: "One", author: ME, committer: ME };
    const result = await withRepository(folder, {}, async (one) => await writeCommit(one, request));
    expect(result).toMatchObject({ commit: place.git(["rev-parse", "trunk"], { cwd: folder }) });
    expect(place.git(["log", "-g", "--format=%gs"], { cwd: folder })).toBe("commit (initial): One");
    const change = await withRepository(folder, {}, async (one) => {
      const source = await findCommittedChange(one, request);
      return source === undefined ? undefined : await readChangeSet(one, source);
    });
    expect(change?.files.map(({ path }) => path)).toEqual(["a"]);
  });

  test("of a linked work tree moves the branch of that work tree, and logs there", async () => {
    const folder = join(place.folder, "linked");
    place.git(["worktree", "add", "--quiet", "-b", "linked", folder]);
    place.write(join(folder, "new.txt"), "new\n", "/");
    place.git(["add", "new.txt"], { cwd: folder });
    const planned = await withRepository(folder, {}, planCommit);
    if (planned.type !== "planned") throw new Error(planned.message);
    const request = { plan: planned.plan, message: "Linked", author: ME, committer: ME };
    const result = await withRepository(folder, {}, async (one) => await writeCommit(one, request));
    expect(result).toMatchObject({ commit: place.git(["rev-parse", "linked"]) });
    expect(place.git(["reflog", "-1", "--format=%gs", "HEAD"], { cwd: folder })).toBe("commit: Linked");
    expect(place.git(["reflog", "--format=%gs", "HEAD"])).not.toContain("Linked");
  });
});

test.each([
  ["conflicts", "unmerged", "in-progress"],
  ["nothing staged", "nothing-staged", undefined],
])("without a commit: %s", async (name, reason, before) => {
  if (name === "conflicts") {
    place.git(["commit", "--quiet", "--all", "-m", "ours"]);
    place.git(["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    place.write("f.txt", "theirs\n");
    place.git(["commit", "--quiet", "--all", "-m", "theirs"]);
    expect(() => place.git(["merge", "--quiet", "main"])).toThrow();
  } else place.git(["reset", "--quiet"]);
  const open = async () => await withRepository(place.top, {}, planCommit);
  if (before !== undefined) {
    expect(await open()).toMatchObject({ type: "refused", reason: before });
    rmSync(join(place.top, ".git/MERGE_HEAD"));
  }
  expect(await open()).toMatchObject({ type: "refused", reason });
});

describe("a foreign repository", () => {
  test("runs nothing of its own when a commit is made, where git would", async () => {
    for (const hook of ["pre-commit", "commit-msg", "post-commit", "reference-transaction"]) {
      const file = `.git/hooks/${hook}`;
      place.write(file, readFileSync(place.program));
      chmodSync(join(place.top, file), 0o755);
    }
    place.write(".gitattributes", "* filter=x\n");
    place.configure(
      `core.fsmonitor=${place.program}`,
      `filter.x.clean=${place.program}`,
      "commit.gpgSign=true",
      `gpg.program=${place.program}`,
    );
    rmSync(place.canary, { force: true });
    expect(await write(await plan())).toMatchObject({ type: "committed" });
    expect(existsSync(place.canary)).toBe(false);
    expect(place.fire(["commit", "--allow-empty", "-m", "x"])).toBe(true);
  });

  test.each(["logs/HEAD", "logs/refs/heads/main", "refs/heads/main", "logs/refs/heads"])(
    "whose %s is a link gets no commit, and what the link names stays as it is",
    async (path) => {
      const of = await plan();
      const outside = join(place.folder, "outside");
      const isFolder = path === "logs/refs/heads";
      if (isFolder) mkdirSync(outside);
      else writeFileSync(outside, "untouched\n");
      rmSync(join(place.top, ".git", path), { recursive: true, force: true });
      symlinkSync(outside, join(place.top, ".git", path));
      await expect(write(of)).rejects.toMatchObject({ fault: "unsafe" });
      if (!isFolder) expect(readFileSync(outside, "utf8")).toBe("untouched\n");
      else expect(existsSync(join(outside, "main"))).toBe(false);
    },
  );
});

describe("who commits", () => {
  const read = async (environment: Record<string, string> = {}) =>
    await withRepository(
      place.top,
      {},
      async (one) => await readIdentity(one, "author", { HOME: join(place.folder, "home"), ...environment }),
    );

  test("is in the environment, the repository's settings, or the user's with their includes", async () => {
    expect(await read()).toMatchObject({ type: "missing", message: expect.stringContaining("user.email") });
    place.write("home/work", "[user]\n\temail = work@example.com\n", place.folder);
    place.write(
      "home/.gitconfig",
      `[user]\n\tname = Mine\n\temail = home@example.com\n[includeIf "gitdir:${place.top}/"]\n\tpath = work\n`,
      place.folder,
    );
    expect(await read()).toEqual({ type: "known", identity: { name: "Mine", email: "work@example.com" } });
    place.configure("user.name=Local");
    expect(await read()).toMatchObject({ identity: { name: "Local", email: "work@example.com" } });
    expect(await read({ GIT_AUTHOR_NAME: "Env" })).toMatchObject({ identity: { name: "Env" } });
  });
});
