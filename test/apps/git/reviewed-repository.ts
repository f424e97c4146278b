import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WHO = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};

/** The parts of the change under review, each in a folder of its own. */
export const PARTS = ["one", "two", "three", "four"] as const;

export type ReviewedRepository = {
  readonly folder: string;
  readonly base: string;
  readonly head: string;
  readonly git: (...args: readonly string[]) => string;
  readonly write: (path: string, text: string) => void;
  readonly commit: (message: string) => string;
  readonly remove: () => void;
};

/** Makes a repository with two commits, the second of which changes a file in each of four folders, and a lock file. */
export function createReviewedRepository(): ReviewedRepository {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-review-")));
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", folder, ...args], {
      encoding: "utf8",
      env: { ...process.env, ...WHO },
    }).trim();
  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const commit = (message: string): string => {
    git("add", "--all");
    git("commit", "--quiet", "-m", message);
    return git("rev-parse", "HEAD");
  };
  git("init", "--quiet", "--initial-branch=main");
  for (const part of PARTS) write(`${part}/file.ts`, `export const ${part} = 1;\n`);
  const base = commit("Begin");
  for (const part of PARTS) write(`${part}/file.ts`, `export const ${part} = 2;\nexport function use() {}\n`);
  write("package-lock.json", '{ "lockfileVersion": 3 }\n');
  const head = commit("Change all parts");
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { folder, base, head, git, write, commit, remove };
}
