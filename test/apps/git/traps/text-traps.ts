import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { isThorough } from "../../../support/test-depth.ts";
import type { Trap, TrapPlace } from "./trap.ts";

// Names, messages and sizes that confuse a reader, a terminal or a parser.

const ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\rback\x08";
const BIDI = "\u202egnp.\u2066exe\u2069\u200b";

/** Writes a file with one line that never ends. */
function writeLongLine(file: string, megabytes: number): void {
  const handle = openSync(file, "w");
  const part = Buffer.alloc(1024 * 1024, "a");
  for (let nth = 0; nth < megabytes; nth += 1) writeSync(handle, part);
  closeSync(handle);
}

/** Makes a commit of a stream of files, quickly. */
function importFiles(place: TrapPlace, paths: Iterable<string>): void {
  const parts = [
    "commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 4\nmany\nfrom refs/heads/main^0\n",
  ];
  for (const path of paths) parts.push(`M 100644 inline ${path}\ndata 2\nx\n`);
  place.git(["fast-import", "--quiet", "--force"], { input: parts.join("") });
}

export const TEXT_TRAPS: readonly Trap[] = [
  {
    name: "a reference that looks like an option",
    set: (place) => place.git(["update-ref", `refs/heads/--output=${place.canary}`, "HEAD"]),
    calls: ["git_diff", "git_changed_files", "git_log"].flatMap((tool) => [
      [tool, { from: "--output=CANARY", to: "HEAD" }] as const,
      [tool, { from: "--output=CANARY" }] as const,
    ]),
  },
  {
    name: "arguments that look like options",
    set: () => {},
    calls: [
      ["git_show", { commit: "--output=CANARY" }],
      ["git_log", { to: "--output=CANARY" }],
      ["git_log", { path: "--output=CANARY" }],
      ["git_log", { to: "HEAD --output=CANARY" }],
      ["git_log", { to: "HEAD\n--output=CANARY" }],
      ["git_diff", { from: "HEAD~1", files: ["--output=CANARY"], detail: "standard" }],
      ["git_blame", { file: "--contents=/etc/passwd", start_line: 1, end_line: 1 }],
      ["git_blame", { file: "f.txt", start_line: 1, end_line: 1, commit: "--contents=/etc/passwd" }],
      ["file_read", { path: "f.txt", commit: "--textconv" }],
      ["code_search", { query: "--pre=CANARY" }],
      ["code_search", { query: "x", path: "--pre=CANARY" }],
      ["code_search", { query: "x", glob: "--pre=CANARY" }],
      ["static_analysis", { files: ["--config=x"] }],
    ],
    check: (text) => expect(text).not.toContain("root:"),
  },
  {
    name: "names with line feeds, escape sequences and quotes",
    set: (place) => {
      place.write("line\nfeed.ts", "export function a1(): void {}\n// x\n");
      place.write(`${ESCAPES}.ts`, "export function a2(): void {}\n// x\n");
      place.write('quote".ts', "export function a3(): void {}\n");
      place.write(" -dash", "x\n");
      place.write("-n", "x\n");
      place.write(":(glob)**", "x\n");
      place.git(["add", "--all"]);
    },
    calls: [
      ["file_read", { path: "line\nfeed.ts" }],
      ["file_read", { path: `${ESCAPES}.ts` }],
      ["git_blame", { file: ":(glob)**", start_line: 1, end_line: 1 }],
      ["git_log", { path: ":(glob)**" }],
      ["git_diff", { files: ["line\nfeed.ts"], detail: "standard" }],
    ],
    check: (text) => expect(text).toContain('"line\\nfeed.ts"'),
  },
  {
    name: "a message and an author with escape sequences and marks of direction",
    set: (place) => {
      place.git([
        "-c",
        `user.name=${BIDI}${ESCAPES}`,
        "commit",
        "--quiet",
        "--author",
        `${BIDI} <${BIDI}@x>`,
        "-m",
        `${ESCAPES}\n\n${BIDI}`,
      ]);
      place.git(["branch", BIDI.replace(/\u200b/, "")]);
      place.git(["checkout", "--quiet", BIDI.replace(/\u200b/, "")]);
      place.configure(`remote.${BIDI}.url=${ESCAPES}`);
    },
    check: (text) => expect(text).toContain("\\u{202e}"),
  },
  {
    name: "files with escape sequences and marks of direction",
    set: (place) => {
      place.write("evil.ts", `export function ${BIDI}(): void {} // ${ESCAPES}\n`);
      place.write("README.md", `# ${ESCAPES}${BIDI}\n`);
      place.git(["add", "--all"]);
    },
    calls: [
      ["file_read", { path: "evil.ts" }],
      ["code_search", { query: "function" }],
    ],
  },
  {
    name: "lines that look like the header of a patch",
    set: (place) => {
      place.write("patch.txt", "diff --git a/x b/x\n@@ -1 +1 @@\n--- a/x\n+++ b/x\n");
      place.commit("header");
      place.write("patch.txt", "diff --git a/y b/y\n@@ -1,9 +1,9 @@\n--- a/y\n+++ /dev/null\n");
      place.git(["add", "patch.txt"]);
    },
    check: (text) => expect(text).toContain("+diff --git a/y b/y"),
  },
  {
    name: "a line that never ends",
    set: (place) => {
      writeLongLine(join(place.top, "long.ts"), isThorough ? 1024 : 16);
      place.git(["add", "long.ts"]);
    },
    calls: [
      ["file_read", { path: "long.ts" }],
      ["git_blame", { file: "long.ts", start_line: 1, end_line: 1 }],
      ["git_diff", { files: ["long.ts"], detail: "standard" }],
    ],
  },
  {
    name: "a huge sparse file in place of a small one",
    set: (place) => {
      const handle = openSync(join(place.top, "f.txt"), "w");
      ftruncateSync(handle, (isThorough ? 256 : 32) * 1024 ** 2);
      closeSync(handle);
    },
    calls: [["code_search", { query: "x", path: "f.txt" }]],
  },
  {
    name: "a huge tag",
    set: (place) => {
      const head = place.git(["rev-parse", "HEAD"]);
      const text = `object ${head}\ntype commit\ntag big\ntagger A <a@example.com> 1700000000 +0000\n\n${"m".repeat(isThorough ? 100_000_000 : 5_000_000)}\n`;
      const id = place.git(["hash-object", "-t", "tag", "-w", "--stdin"], { input: text });
      place.git(["update-ref", "refs/tags/big", id]);
    },
    calls: [
      ["git_show", { commit: "big" }],
      ["git_log", { to: "big" }],
    ],
    check: (text) => expect(text).not.toContain("mmmm"),
  },
  {
    name: "a huge commit message",
    set: (place) => {
      place.git(["commit", "--quiet", "--file=-"], {
        input: `long\n\n${"word ".repeat(isThorough ? 1_000_000 : 100_000)}`,
      });
    },
  },
  {
    name: "a tree of very many files",
    set: (place) =>
      importFiles(
        place,
        (function* () {
          for (let nth = 0; nth < (isThorough ? 20_000 : 3_000); nth += 1) yield `many/file-${nth}.ts`;
        })(),
      ),
    calls: [["git_diff", { from: "HEAD~1", detail: "standard" }]],
  },
  {
    name: "folders in folders, 1,500 deep",
    set: (place) => importFiles(place, [`${"d/".repeat(1_500)}file.ts`]),
    calls: [["file_read", { path: `${"d/".repeat(1_500)}file.ts`, commit: "HEAD" }]],
  },
  {
    name: "names that differ by their case alone",
    set: (place) => importFiles(place, ["Same.ts", "same.ts", "SAME.ts", "dir/x", "DIR/x"]),
  },
  {
    name: "a commit that stands in for another",
    set: (place) => {
      const head = place.git(["rev-parse", "HEAD"]);
      const tree = place.git(["rev-parse", "HEAD^{tree}"]);
      const other = place.git(["commit-tree", tree, "-m", "nothing to see here"]);
      place.git(["replace", head, other]);
    },
    check: (text) => expect(text).not.toContain("nothing to see here"),
  },
  {
    name: "an ignore file that hides code from searches only",
    set: (place) => {
      place.write(".ignore", "*\n");
      place.write(".rgignore", "*\n");
    },
    calls: [["code_search", { query: "first" }]],
    check: (text) => expect(text).toContain("src/code.ts:1"),
  },
  {
    name: "a pattern that takes forever, and a source that is hard to parse",
    set: (place) => {
      place.write("deep.ts", `${"(".repeat(60_000)}1${")".repeat(60_000)}\n`);
      place.write("deep.py", `x = ${"[".repeat(60_000)}\n`);
      place.write("a.txt", `${"a".repeat(100_000)}b\n`);
      place.git(["add", "--all"]);
    },
    calls: [["code_search", { query: "(a+)+$", is_regex: true }]],
  },
];
