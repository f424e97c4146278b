import { expect, test } from "vitest";
import { DiffReader } from "../../../src/apps/git/changes/diff-reader.ts";

/** What git prints for a changed file with these hunks. */
function readPatch(...hunks: readonly string[]) {
  const seen: string[] = [];
  const reader = new DiffReader((_file, _hunk, line) => seen.push(line));
  const records = [":100644 100644 1111111 2222222 M", "a.txt", "1\t1\ta.txt", ""];
  reader.push(Buffer.from(records.map((record) => `${record}\0`).join("")));
  reader.push(Buffer.from(`diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n${hunks.join("")}`));
  const [file] = reader.end();
  return { hunks: file?.hunks, text: seen.map((line) => `${line}\n`).join("") };
}

const MARK = "\\ No newline at end of file\n";

test.each([
  ["the old file", `@@ -1 +1,2 @@\n-a\n${MARK}+a\n+b\n`, { added: 2, deleted: 1 }],
  ["the new file", `@@ -1,2 +1 @@\n-a\n-b\n+a\n${MARK}`, { added: 1, deleted: 2 }],
  ["both files", `@@ -1 +1,2 @@\n-a\n${MARK}+b\n+c\n${MARK}`, { added: 2, deleted: 1 }],
])("a hunk is read to its end if the last line of %s has no line break", (_which, hunk, counts) => {
  const next = "@@ -9 +9 @@\n-x\n+y\n";
  const { hunks, text } = readPatch(hunk, next);
  expect(text).toBe(hunk + next);
  expect(hunks).toMatchObject([counts, { added: 1, deleted: 1 }]);
});
