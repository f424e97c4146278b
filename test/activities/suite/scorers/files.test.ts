import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { thoroughTest } from "../../../support/test-depth.ts";
import { createTemporaryFolder } from "../../../tools/tool-context.ts";
import { score } from "./cell.ts";

let workspace: string;

const files = async (expected: object) =>
  (await score([{ type: "files", files: expected }], { workspace }))[0];

beforeEach(async () => {
  workspace = await createTemporaryFolder();
  await mkdir(join(workspace, "src"));
  await writeFile(join(workspace, "src/a.txt"), "one\ntwo\n\n");
});

test.each([
  [{ exists: true }, 1],
  [{ exists: false }, 0],
  [{ equals: "one\ntwo" }, 1],
  [{ equals: "one" }, 0],
  [{ includes: "two" }, 1],
  [{ includes: "three" }, 0],
  [{ matches: "^one\\s" }, 1],
  [{ matches: "^two" }, 0],
  [{ includes: "one", matches: "three" }, 0],
  [{}, 1],
])("a file that should be %j scores %d", async (expected, value) => {
  expect(await files({ "src/a.txt": expected })).toMatchObject({
    class: "scored",
    value,
    passed: value === 1,
  });
});

test("the score is the fraction of files, and names those that are not as expected", async () => {
  expect(
    await files({
      "src/a.txt": { includes: "one" },
      "src/b.txt": { exists: false },
      "src/c.txt": { exists: true },
      src: { exists: true },
    }),
  ).toEqual({
    class: "scored",
    value: 0.5,
    passed: false,
    explanation: "src/c.txt: it does not exist; src: it is a directory",
  });
});

test("nothing outside the workspace is read, by name or by link", async () => {
  const outside = await createTemporaryFolder();
  await writeFile(join(outside, "secret"), "secret");
  await symlink(join(outside, "secret"), join(workspace, "link"));
  await symlink(outside, join(workspace, "folder"));
  await symlink(join(workspace, "src/a.txt"), join(workspace, "inner"));
  expect(
    await files({
      link: { includes: "secret" },
      "folder/secret": { includes: "secret" },
      "../secret": { exists: true },
      inner: { includes: "one" },
    }),
  ).toMatchObject({
    value: 0.25,
    explanation:
      "link: it is outside the workspace; folder/secret: it is outside the workspace; ../secret: it is outside the workspace",
  });
});

test("a file of more than 1 MiB is not as expected", async () => {
  await writeFile(join(workspace, "large"), "a".repeat(1024 * 1024 + 1));
  await writeFile(join(workspace, "whole"), "a".repeat(1024 * 1024));
  expect(await files({ large: { includes: "a" }, whole: { includes: "a" } })).toMatchObject({
    value: 0.5,
    explanation: "large: it is larger than 1048576 bytes",
  });
});

test("a pattern that is not valid has failed", async () => {
  expect(await files({ "src/a.txt": { matches: "(" } })).toMatchObject({ class: "failed" });
});

thoroughTest(
  "a pattern that would take for ever has failed",
  async () => {
    await writeFile(join(workspace, "as"), `${"a".repeat(60)}b`);
    expect(await files({ as: { matches: "^(a+)+$" } })).toMatchObject({ class: "failed" });
  },
  20_000,
);

test("a cell without a workspace, or whose workspace is gone, cannot be scored", async () => {
  const scorers = [{ type: "files", files: { a: {} } }];
  expect(await score(scorers)).toMatchObject([
    { class: "unscorable", explanation: "The cell has no workspace." },
  ]);
  expect(await score(scorers, { isWorkspaceMissing: true })).toMatchObject([
    { class: "unscorable", explanation: expect.stringMatching(/not on this host, or was deleted/) },
  ]);
});
