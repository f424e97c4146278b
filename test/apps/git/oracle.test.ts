import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGitTools } from "../../../src/apps/git/index.ts";
import { describeIf } from "../../support/skipping.ts";
import { isThorough, thoroughDescribe } from "../../support/test-depth.ts";
import { createContext } from "../../tools/tool-context.ts";
import { buildRepository, type RepositoryPlan } from "./build-repository.ts";

// The answers of the tools are compared with git's own, in other formats than the tools read.

/** They take minutes. */
const largeDescribe = describeIf(
  process.env["HOLDFAST_LARGE_HISTORIES"] !== undefined,
  "large histories: npm run git-oracle runs them",
);

const OWN = resolve(import.meta.dirname, "../../..");

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", [...args], { cwd: folder, encoding: "utf8", maxBuffer: 1e9, stdio: "pipe" });
}

const lines = (text: string) => text.split("\n").filter((line) => line !== "");
const records = (text: string) => text.split("\0").filter((record) => record !== "");

/** Returns a tool's data and text. */
async function ask(folder: string, name: string, parameters: object) {
  const { core, main } = createGitTools();
  const tool = [...core, ...main].find((one) => one.name === name);
  const parsed = tool?.parse(parameters);
  if (tool === undefined || parsed?.ok !== true) throw new Error(JSON.stringify(parsed));
  const { details, content } = await tool.execute(parsed.value, createContext(folder));
  // biome-ignore lint/suspicious/noExplicitAny: each expectation names the fields that it reads
  return { ...(details as any), text: content.map((part) => ("text" in part ? part.text : "")).join("") };
}

/** Reads what git says of a range: the status letter and the paths of each file, and its counts. */
function readRange(folder: string, from: string, to: string) {
  const status = records(git(folder, "diff", "--name-status", "-M", "-z", from, to));
  const files: { letter: string; path: string }[] = [];
  for (let at = 0; at < status.length; at += 2) {
    const letter = status[at]?.[0] ?? "";
    if (letter === "R" || letter === "C") at += 1;
    files.push({ letter, path: status[at + 1] ?? "" });
  }
  const patch = git(folder, "diff", "-M", "--no-ext-diff", from, to);
  const short = git(folder, "diff", "--shortstat", "-M", from, to);
  const count = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(short)?.[1] ?? 0);
  return { files, patch, added: count("insertion"), deleted: count("deletion") };
}

const LETTERS: Readonly<Record<string, string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  copied: "C",
  "type-changed": "T",
};

/** Compares all reading tools on a range. @param word - Occurs in files of the repository. */
function compare(name: string, open: () => string, from: string, to: string, word: string): void {
  describe(name, () => {
    let folder: string;
    beforeAll(() => {
      folder = open();
    });

    test("git_changed_files lists the files of git diff, part by part", async () => {
      const { files, added, deleted } = readRange(folder, from, to);
      const found: { change: string; path: string }[] = [];
      for (let offset = 0; offset <= files.length; offset += 1000) {
        const part = await ask(folder, "git_changed_files", { from, to, offset, limit: 1000 });
        found.push(...part.files);
        expect(part).toMatchObject({ total: files.length, added, deleted });
      }
      expect(found.map(({ change, path }) => ({ letter: LETTERS[change], path }))).toEqual(files);
    });

    test("git_diff counts the files, lines and hunks of git diff, and shows the text of its hunks", async () => {
      const { files, patch, added, deleted } = readRange(folder, from, to);
      const found = await ask(folder, "git_diff", { from, to, detail: "standard" });
      expect(found).toMatchObject({ totalFiles: files.length, added, deleted });
      const hunks = lines(patch).filter((line) => line.startsWith("@@ "));
      expect(found.hunks.shown.length + found.hunks.left.length).toBe(hunks.length);
      const [shown] = found.hunks.shown as string[];
      const path = shown?.replace(/:\d+$/, "") ?? "";
      const one = await ask(folder, "git_diff", { from, to, detail: "standard", files: [path] });
      const own = git(
        folder,
        "diff",
        "--no-ext-diff",
        "-M",
        from,
        to,
        "--",
        ...listNames(folder, from, to, path),
      );
      const body = own.slice(own.indexOf("\n@@ ") + 1).trimEnd();
      if (one.hunks.left.length === 0) expect(one.text).toContain(body);
    });

    test("git_log lists the commits of git rev-list, with their subjects", async () => {
      const { commits } = await ask(folder, "git_log", { from, to, count: 200 });
      const ids = lines(git(folder, "rev-list", "--max-count=200", `${from}..${to}`));
      expect(commits.map((commit: { id: string }) => commit.id)).toEqual(ids);
      const subjects = lines(git(folder, "log", "--max-count=200", "--format=%s", `${from}..${to}`));
      expect(commits.map((commit: { subject: string }) => commit.subject)).toEqual(subjects);
    });

    test("git_show has the message, the author and the counts of the commit", async () => {
      const found = await ask(folder, "git_show", { commit: to });
      const [author, email, date] = lines(git(folder, "show", "-s", "--format=%an%n%ae%n%aI", to));
      expect(found.commit).toMatchObject({ author, email, date });
      const message = git(folder, "show", "-s", "--format=%B", to).trim();
      expect(message.startsWith(found.commit.subject)).toBe(true);
      expect(message.endsWith(found.commit.body)).toBe(true);
      const counted = lines(
        git(folder, "log", "-1", "-m", "--first-parent", "-M", "--name-only", "--format=", to),
      );
      expect(found.totalFiles).toBe(counted.length);
    });

    test("git_blame names the commit of each line as git blame does", async () => {
      const path = pickFile(folder, to);
      const found = await ask(folder, "git_blame", { file: path, start_line: 1, end_line: 40, commit: to });
      const own = lines(git(folder, "blame", "-l", "-s", "--root", "-L", "1,40", to, "--", path));
      expect(found.lines.map((line: { commit: string }) => line.commit)).toEqual(
        own.map((line) => line.slice(0, 40)),
      );
    });

    test("file_read reads the file of the commit, and of the work tree", async () => {
      const path = pickFile(folder, to);
      const found = await ask(folder, "file_read", { path, commit: to, num_lines: 50 });
      const text = git(folder, "show", `${to}:${path}`);
      expect(found.lines).toEqual(text.replace(/\n$/, "").split("\n").slice(0, 50));
      expect(found.totalLines).toBe(text.replace(/\n$/, "").split("\n").length);
      const now = await ask(folder, "file_read", { path, num_lines: 50 });
      expect(now.lines).toEqual(
        readFileSync(join(folder, path), "utf8").replace(/\n$/, "").split("\n").slice(0, 50),
      );
    });

    test("code_search finds the lines of git grep", async () => {
      const found = await ask(folder, "code_search", { query: word, max_results: 500 });
      const own = lines(git(folder, "grep", "--untracked", "-I", "-c", "-F", word));
      expect(found.total).toBe(
        own.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(":") + 1)), 0),
      );
    });

    test("repo_map stays within its budget and names definitions where they are", async () => {
      const found = await ask(folder, "repo_map", { max_tokens: 1_000 });
      expect(found.text.length / 3.5).toBeLessThanOrEqual(1_000);
      expect(found.byGrammar + found.byPattern + found.skipped).toBe(found.files);
      for (const { path, definitions } of found.entries) {
        const text = readFileSync(join(folder, path), "utf8").split("\n");
        for (const { name, line } of definitions) expect(text[line - 1]).toContain(name);
      }
    });
  });
}

function listNames(folder: string, from: string, to: string, path: string): readonly string[] {
  const status = records(git(folder, "diff", "--name-status", "-M", "-z", from, to));
  const at = status.indexOf(path);
  return /^[RC]/.test(status[at - 2] ?? "") ? [status[at - 1] ?? "", path] : [path];
}

/** The last text file of the commit that is in the work tree as well. */
function pickFile(folder: string, commit: string): string {
  const tracked = new Set(records(git(folder, "ls-files", "-z")));
  const paths = records(git(folder, "ls-tree", "-r", "-z", "--name-only", commit));
  return paths.filter((path) => path.endsWith(".ts") && tracked.has(path)).at(-1) ?? "";
}

const made: { folder: string; remove: () => Promise<void> }[] = [];
afterAll(async () => {
  for (const { remove } of made) await remove();
});

function compareBuilt(name: string, plan: RepositoryPlan): void {
  describe(name, () => {
    let folder = "";
    beforeAll(async () => {
      const built = await buildRepository(plan);
      made.push(built);
      folder = built.folder;
    }, 600_000);
    compare(
      "a range with renames, merges and binary files",
      () => folder,
      "main~120",
      "main~1",
      "edited by 29",
    );
    compare("a change of very many files", () => folder, "main~1", "main", "value1");
  });
}

const SMALL = isThorough ? { commits: 300, lastFiles: 1_200 } : { commits: 150, lastFiles: 400 };
compareBuilt("a small history", { ...SMALL, seed: 7 });
thoroughDescribe("a longer history", () => {
  compareBuilt("2,000 commits, 3,000 files in one", { commits: 2_000, lastFiles: 3_000, seed: 5 });
});
largeDescribe("large histories", () => {
  compareBuilt("20,000 commits, 10,000 files in one", { commits: 20_000, lastFiles: 10_000, seed: 11 });
  compareBuilt("40,000 commits", { commits: 40_000, lastFiles: 3_000, seed: 13 });
});

const hasHistory = (() => {
  try {
    return git(OWN, "rev-parse", "--verify", "--quiet", "HEAD~60") !== "";
  } catch {
    return false;
  }
})();
const describeClone = isThorough
  ? describeIf(hasHistory, "no history: this is no clone of the repository, or a shallow one")
  : thoroughDescribe;
describeClone("this clone", () => {
  compare("this repository", () => OWN, "HEAD~60", "HEAD", "RepositoryError");
});

test("git_status lists what git status lists, in every state of a file", async () => {
  const built = await buildRepository({ commits: 40, lastFiles: 10, seed: 3 });
  made.push(built);
  const { folder } = built;
  const bulk = (at: number) => join(folder, `bulk/part-${at}/file-${at}.ts`);
  appendFileSync(bulk(0), "x\n");
  appendFileSync(bulk(1), "x\n");
  git(folder, "add", "--all");
  appendFileSync(bulk(1), "y\n");
  rmSync(bulk(2));
  git(folder, "mv", "bulk/part-3/file-3.ts", "bulk/moved file.ts");
  writeFileSync(join(folder, "new\nfile"), "x");
  renameSync(bulk(4), join(folder, "unknown"));
  const { files, branch, commit, total } = await ask(folder, "git_status", {});
  expect({ branch, commit }).toEqual({ branch: "main", commit: git(folder, "rev-parse", "HEAD").trim() });
  const letters: Readonly<Record<string, string>> = { ...LETTERS };
  const found = files.map(({ path, staged, unstaged, state }: Record<string, string>) => {
    const letter = (word: string | undefined) => (word === undefined ? " " : letters[word]);
    return state === "untracked" ? `?? ${path}` : `${letter(staged)}${letter(unstaged)} ${path}`;
  });
  // The record after a rename has its old name.
  const own = records(git(folder, "status", "--porcelain", "-z")).filter(
    (record) => record !== "bulk/part-3/file-3.ts",
  );
  expect(found.toSorted()).toEqual(own.toSorted());
  expect(total).toBe(own.length);
});

test("a conflict is listed as unmerged, and the other files with their counts", async () => {
  const built = await buildRepository({ commits: 40, lastFiles: 10, seed: 3 });
  made.push(built);
  const { folder } = built;
  const file = join(folder, "bulk/part-5/file-5.ts");
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  for (const [branch, text] of [
    ["theirs", "theirs\n"],
    ["ours", "ours\n"],
  ] as const) {
    git(folder, "checkout", "--quiet", "-b", branch, "main");
    writeFileSync(file, text);
    git(folder, ...identity, "commit", "--quiet", "--all", "-m", branch);
  }
  expect(() => git(folder, ...identity, "merge", "--quiet", "theirs")).toThrow();
  const [before, after] = [4, 6].map((at) => `bulk/part-${at}/file-${at}.ts`) as [string, string];
  for (const path of [before, after]) appendFileSync(join(folder, path), "x\n");
  const list = async (from: string) =>
    (await ask(folder, "git_diff", { from, detail: "standard" })).files
      .map(({ path, change, added }: Record<string, string>) => `${change} ${path} ${added}`)
      .toSorted();
  const unmerged = "unmerged bulk/part-5/file-5.ts 0";
  expect(await list("unstaged")).toEqual([`modified ${before} 1`, `modified ${after} 1`, unmerged]);
  git(folder, "add", before, after);
  expect(await list("staged")).toEqual([`modified ${before} 1`, `modified ${after} 1`, unmerged]);
});
