import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCurrentFile } from "../../src/apps/cli/current-file.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-present-"));
  await writeFile(join(folder, "a.txt"), "text\n");
  await writeFile(join(folder, "binary"), Buffer.from([1, 0, 2]));
  execFileSync("mkfifo", [join(folder, "pipe")]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["a.txt", { type: "text", text: "text\n" }],
  ["b.txt", { type: "absent" }],
  ["binary", { type: "unknown" }],
  [".", { type: "unknown" }],
  ["pipe", { type: "unknown" }],
  ["/dev/zero", { type: "unknown" }],
])("%s", async (path, expected) => {
  expect(await readCurrentFile(folder, path)).toEqual(expected);
});
