import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Trap, TrapPlace } from "./trap.ts";

// Repositories that lead a reader to files outside of them.

/** Replaces a part of the git folder by a link to the same part of the other repository. */
function linkPart(place: TrapPlace, name: string): void {
  rmSync(join(place.top, ".git", name), { recursive: true, force: true });
  symlinkSync(join(place.victim, ".git", name), join(place.top, ".git", name));
}

const readSecret: Trap["calls"] = [
  ["file_read", { path: "secret.txt" }],
  ["file_read", { path: "secret.txt", commit: "HEAD" }],
];

export const BORDER_TRAPS: readonly Trap[] = [
  {
    name: "a link to a file outside",
    set: (place) => {
      symlinkSync(join(place.victim, "secret.txt"), join(place.top, "link.txt"));
      symlinkSync("../victim/secret.txt", join(place.top, "README.md"));
      symlinkSync("../victim/secret.txt", join(place.top, "AGENTS.md"));
      symlinkSync("../victim/secret.txt", join(place.top, "linked.ts"));
      place.git(["add", "link.txt", "README.md", "linked.ts"]);
    },
    calls: [
      ["file_read", { path: "link.txt" }],
      ["code_search", { query: "only-the-other", path: "link.txt" }],
      ["git_blame", { file: "link.txt", start_line: 1, end_line: 1 }],
      ["static_analysis", { files: ["link.txt"] }],
    ],
  },
  {
    name: "a link to a folder outside",
    set: (place) => symlinkSync("../victim", join(place.top, "folder")),
    calls: [
      ["file_read", { path: "folder/secret.txt" }],
      ["file_read", { path: "../victim/secret.txt" }],
      ["file_read", { path: "/proc/self/environ" }],
      ["code_search", { query: "only-the-other", path: "folder" }],
      ["code_search", { query: "only-the-other", path: "../victim" }],
      ["git_blame", { file: "folder/secret.txt", start_line: 1, end_line: 1 }],
      ["git_blame", { file: "../victim/secret.txt", start_line: 1, end_line: 1 }],
    ],
  },
  {
    name: "the git folder itself as a file to read",
    set: (place) => place.configure(`remote.origin.url=https://user:${"pass" + "word"}@example.com/x`),
    calls: [
      ["file_read", { path: ".git/config" }],
      ["file_read", { path: "src/../.git/config" }],
      ["file_read", { path: ".GIT/config" }],
    ],
    check: (text) => expect(text).not.toContain("password"),
  },
  {
    name: "ignore files and attributes that are links",
    set: (place) => {
      for (const name of [".gitignore", ".gitattributes", ".mailmap"]) {
        symlinkSync(join(place.victim, "secret.txt"), join(place.top, name));
      }
    },
  },
  {
    name: "objects that are borrowed from another repository",
    set: (place) => {
      place.write(".git/objects/info/alternates", `${join(place.victim, ".git/objects")}\n`);
      place.git(["update-ref", "refs/heads/main", place.git(["rev-parse", "HEAD"], { cwd: place.victim })]);
    },
    calls: readSecret,
  },
  { name: "objects that are a link", set: (place) => linkPart(place, "objects"), calls: readSecret },
  {
    name: "a git folder that is a link",
    set: (place) => {
      rmSync(join(place.top, ".git"), { recursive: true });
      symlinkSync(join(place.victim, ".git"), join(place.top, ".git"));
    },
    calls: readSecret,
  },
  {
    name: "a .git file that names another repository",
    set: (place) => {
      rmSync(join(place.top, ".git"), { recursive: true });
      place.write(".git", `gitdir: ${join(place.victim, ".git")}\n`);
    },
    calls: readSecret,
  },
  {
    name: "a git folder that takes everything from another",
    set: (place) => {
      place.write(".git/commondir", `${join(place.victim, ".git")}\n`);
      rmSync(join(place.top, ".git/refs"), { recursive: true });
    },
    calls: readSecret,
  },
  {
    name: "a linked work tree of a folder of its own, which takes everything from another",
    set: (place) => {
      mkdirSync(join(place.top, "own/worktrees"), { recursive: true });
      renameSync(join(place.top, ".git"), join(place.top, "own/worktrees/x"));
      place.write("own/worktrees/x/gitdir", `${join(place.top, ".git")}\n`);
      place.write("own/worktrees/x/commondir", `${join(place.victim, ".git")}\n`);
      place.write(".git", `gitdir: ${join(place.top, "own/worktrees/x")}\n`);
    },
    calls: readSecret,
  },
  {
    name: "a work tree elsewhere",
    set: (place) => place.configure(`core.worktree=${place.victim}`),
    calls: readSecret,
    check: (text) => expect(text).not.toContain("secret.txt (untracked)"),
  },
  { name: "a HEAD that is a link", set: (place) => linkPart(place, "HEAD"), calls: readSecret },
  { name: "an index that is a link", set: (place) => linkPart(place, "index"), calls: readSecret },
  {
    name: "a list of shallow commits that is a link to a secret",
    set: (place) => symlinkSync(join(place.victim, "secret.txt"), join(place.top, ".git/shallow")),
  },
  {
    name: "a configuration that is a pipe",
    set: (place) => {
      rmSync(join(place.top, ".git/config"));
      execFileSync("mkfifo", [join(place.top, ".git/config")]);
    },
  },
  {
    name: "documents and sources that are pipes",
    set: (place) => {
      for (const name of ["README.md", "pipe.ts"]) execFileSync("mkfifo", [join(place.top, name)]);
    },
    calls: [
      ["file_read", { path: "pipe.ts" }],
      ["code_search", { query: "x", path: "pipe.ts" }],
    ],
  },
];
