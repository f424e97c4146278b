import { execFileSync, spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EvidenceReader } from "../../../src/apps/git/evidence/evidence-reader.ts";
import type { Repository } from "../../../src/apps/git/repository/repository.ts";
import { describeIf } from "../../support/skipping.ts";
import { isThorough, thoroughTest } from "../../support/test-depth.ts";
import { buildRepository } from "./build-repository.ts";
import { type ExaminedChange, examineCommits, examineRanges } from "./history-proof.ts";

// `npm run git-history` does the same with 500 commits and 20 ranges.

const OWN = resolve(import.meta.dirname, "../../..");

const createReader = ({ top }: Repository): EvidenceReader => ({
  readFile: async (commit, path) => {
    const args = ["-C", top, "cat-file", "blob", `${commit}:${path}`];
    const { status, stdout } = spawnSync("git", args, { encoding: "utf8", maxBuffer: 1e9 });
    return status === 0
      ? { type: "text", lines: stdout.replace(/\n$/, "").split("\n") }
      : { type: "unreadable", reason: "the commit has no such file" };
  },
});

async function collect(changes: AsyncIterable<ExaminedChange>): Promise<readonly ExaminedChange[]> {
  const all = [];
  for await (const change of changes) all.push(change);
  return all;
}

const count = (folder: string, ...args: readonly string[]) =>
  Number(execFileSync("git", ["-C", folder, "rev-list", "--count", ...args]));
const hasHistory = (() => {
  try {
    return count(OWN, "HEAD") > 100;
  } catch {
    return false;
  }
})();

const COMMITS = isThorough ? 30 : 8;

function prove(open: () => string, ofRanges = test): void {
  test(`every hunk of the first ${COMMITS} commits is accounted for`, async () => {
    const changes = await collect(examineCommits(open(), { count: COMMITS, createReader }));
    expect(changes.flatMap(({ problems }) => problems)).toEqual([]);
    expect(changes.length).toBe(COMMITS);
    expect(changes.reduce((sum, { hunks }) => sum + hunks, 0)).toBeGreaterThan(COMMITS);
    expect(changes.reduce((sum, { references }) => sum + references, 0)).toBeGreaterThan(COMMITS);
  });

  ofRanges("so is every commit and hunk of 3 ranges, which are the whole history", async () => {
    const ranges = await collect(examineRanges(open(), { count: 3, createReader }));
    expect(ranges.flatMap(({ problems }) => problems)).toEqual([]);
    expect(ranges.length).toBe(3);
    for (const [at, { to }] of ranges.entries()) {
      if (at + 1 < ranges.length) expect(ranges[at + 1]?.from).toBe(to);
    }
  });
}

describeIf(hasHistory, "needs a history of 100 commits")("this repository", () =>
  prove(() => OWN, thoroughTest),
);

describe("a history with renames, merges and binary files", () => {
  let built: Awaited<ReturnType<typeof buildRepository>>;
  beforeAll(async () => {
    built = await buildRepository({ commits: 120, lastFiles: 300, seed: 5 });
  });
  afterAll(async () => await built.remove());
  prove(() => built.folder);
});

test("a reader that does not know a file is noticed", async () => {
  const built = await buildRepository({ commits: 10, lastFiles: 1, seed: 5 });
  const blind = () => ({ readFile: async () => ({ type: "unreadable", reason: "is gone" }) as const });
  const changes = await collect(examineCommits(built.folder, { count: 3, createReader: blind }));
  expect(changes.flatMap(({ problems }) => problems).length).toBeGreaterThan(0);
  await built.remove();
});
