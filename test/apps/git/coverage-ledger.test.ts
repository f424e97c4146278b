import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChangedFile } from "../../../src/apps/git/changes/change-set.ts";
import {
  addSummaries,
  type Coverage,
  formatCoverage,
  type Ledger,
  openLedger,
  recordCoverage,
  recordLostAgent,
  summarizeCoverage,
} from "../../../src/apps/git/changes/coverage-ledger.ts";
import { readChangeSet } from "../../../src/apps/git/changes/read-change-set.ts";
import { withRepository } from "../../../src/apps/git/repository/repository.ts";
import { makeChangedFile } from "./changed-file.ts";
import { createReviewedRepository } from "./reviewed-repository.ts";

function open(...files: readonly ChangedFile[]): Ledger {
  return openLedger({ files, added: 0, deleted: 0 });
}

const summarize = (ledger: Ledger) => formatCoverage(summarizeCoverage(ledger));

describe("the coverage ledger", () => {
  const files = [
    makeChangedFile("src/a.ts", { hunks: 3 }),
    makeChangedFile("src/b.ts", { hunks: 1 }),
    makeChangedFile("package-lock.json", { hunks: 2 }),
    makeChangedFile("logo.png", { hunks: 0, isBinary: true }),
  ];

  test("a summary names what was read, given away, left open and skipped", () => {
    const read = recordCoverage(open(...files), ["src/a.ts:1", "src/a.ts:2"], { type: "read" });
    expect(summarize(read)).toBe(
      "2 of 4 hunks examined, 2 not examined, 1 generated file skipped, 1 binary file skipped",
    );
    const all = recordCoverage(read, ["src/a.ts:3", "src/b.ts:1"], { type: "delegated", to: "one" });
    expect(summarize(all)).toBe(
      "4 of 4 hunks examined (2 by agents), 1 generated file skipped, 1 binary file skipped",
    );
    expect(summarizeCoverage(read).open).toEqual(["src/a.ts:3", "src/b.ts:1"]);
  });

  test("the hunks of a lost agent are open again, except those that another has read", () => {
    const given = recordCoverage(open(...files), ["src/a.ts:1", "src/b.ts:1"], {
      type: "delegated",
      to: "one",
    });
    const read = recordCoverage(given, ["src/b.ts:1"], { type: "read" });
    expect(summarizeCoverage(recordLostAgent(read, "one")).open).toEqual([
      "src/a.ts:1",
      "src/a.ts:2",
      "src/a.ts:3",
    ]);
    expect(recordLostAgent(read, "two")).toEqual(read);
  });

  test("a generated file that is read after all counts as read", () => {
    const read = recordCoverage(open(...files), ["package-lock.json:1"], { type: "read" });
    expect(summarizeCoverage(read)).toMatchObject({
      total: 5,
      read: 1,
      skipped: { generated: ["package-lock.json"] },
    });
  });
});

const coverage: fc.Arbitrary<Coverage> = fc.oneof(
  fc.constant<Coverage>({ type: "read" }),
  fc.constantFrom("one", "two").map((to): Coverage => ({ type: "delegated", to })),
  fc.constantFrom("too large", "__proto__").map((reason): Coverage => ({ type: "skipped", reason })),
);
const changedFiles = fc
  .uniqueArray(fc.constantFrom("src/a.ts", "test/b.test.ts", "c.lock", "d.png", "vendor/e.c", "f.md"))
  .chain((paths) =>
    fc.tuple(...paths.map((path) => fc.nat({ max: 4 }).map((hunks) => makeChangedFile(path, { hunks })))),
  );
const facts = fc.array(
  fc.record({
    path: fc.constantFrom("src/a.ts", "c.lock", "f.md", "unknown"),
    nth: fc.nat({ max: 5 }),
    coverage,
  }),
);

describe("whatever is recorded", () => {
  const record = (ledger: Ledger, all: readonly { path: string; nth: number; coverage: Coverage }[]) =>
    all.reduce((sofar, one) => recordCoverage(sofar, [`${one.path}:${one.nth}`], one.coverage), ledger);

  test("every hunk and every file without one is accounted for exactly once", () => {
    fc.assert(
      fc.property(changedFiles, facts, (files, all) => {
        const ledger = record(open(...files), all);
        const hunks = files.flatMap((file) => file.hunks.map(({ id }) => id));
        const bare = files.filter((file) => file.hunks.length === 0).length;
        expect(ledger.entries.length).toBe(hunks.length + bare);
        const { total, read, delegated, open: left, skipped } = summarizeCoverage(ledger);
        expect(read + delegated + left.length).toBe(total);
        const inSkipped = ledger.entries.filter((entry) => entry.coverage.type === "skipped");
        expect(total + inSkipped.length).toBe(ledger.entries.length);
        const named = new Set(Object.values(skipped).flat());
        expect(named).toEqual(new Set(inSkipped.map(({ path }) => path)));
      }),
    );
  });

  test("neither the order of the facts nor their number matters", () => {
    fc.assert(
      fc.property(changedFiles, facts, fc.nat(), (files, all, seed) => {
        const shuffled = [...all, ...all].toSorted((a, b) => ((a.nth * seed) % 7) - ((b.nth * seed) % 7));
        expect(record(open(...files), shuffled.toReversed())).toEqual(record(open(...files), all));
      }),
    );
  });
});

test("a text that is too large for its lines to be shown says so, with its size, and a small binary file does not", async () => {
  const { folder, git, write, remove } = createReviewedRepository();
  write("large.txt", "a line of a large text\n".repeat(1_000_000));
  write("image.bin", "\0\0");
  git("add", "--all");
  const changes = await withRepository(
    folder,
    {},
    async (one) => await readChangeSet(one, { type: "staged" }),
  );
  expect(formatCoverage(summarizeCoverage(openLedger(changes)))).toBe(
    "0 of 0 hunks examined, 1 binary file skipped, 1 file skipped (too large to show: 23 MB)",
  );
  remove();
});

test("the summaries of two ledgers add up, and a file that both skip counts once", () => {
  const ledger = open(makeChangedFile("a.ts", { hunks: 2 }), makeChangedFile("package-lock.json"));
  const read = summarizeCoverage(recordCoverage(ledger, ["a.ts:1"], { type: "read" }));
  expect(formatCoverage(addSummaries([read, summarizeCoverage(ledger)]))).toBe(
    "1 of 4 hunks examined, 3 not examined, 1 generated file skipped",
  );
});
