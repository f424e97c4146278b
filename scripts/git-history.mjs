// Takes the history of a repository through everything of git work but the model, and checks that every hunk is accounted
// for: npm run git-history -- [REPO] [--commits 500] [--ranges 20] [--json]
import "../test/support/run-typescript.mjs";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { reportTotals } from "./git-totals.mjs";

const { examineCommits, examineRanges } = await import("../test/apps/git/history-proof.ts");

/** Changes pass through; what stays is small, whatever their size. */
const MAX_PEAK_MB = 512;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commits: { type: "string", default: "500" },
    ranges: { type: "string", default: "20" },
    json: { type: "boolean", default: false },
  },
});
const folder = resolve(positionals[0] ?? ".");
const counts = { commits: Number(values.commits), ranges: Number(values.ranges) };
if (!Object.values(counts).every((count) => Number.isSafeInteger(count) && count >= 0)) {
  console.error("usage: npm run git-history -- [REPO] [--commits N] [--ranges N] [--json]");
  process.exit(2);
}

/** Reads with a plain git: the second opinion. */
const createReader = ({ top }) => ({
  readFile: async (commit, path) => {
    const args = ["-C", top, "cat-file", "blob", `${commit}:${path}`];
    const { status, stdout } = spawnSync("git", args, { encoding: "utf8", maxBuffer: MAX_FILE_BYTES });
    return status === 0
      ? { type: "text", lines: stdout.replace(/\n$/, "").split("\n") }
      : { type: "unreadable", reason: "the commit has no such file" };
  },
});

const total = { commits: 0, ranges: 0, files: 0, hunks: 0, references: 0, problems: 0 };
async function count(kind, changes) {
  for await (const { to, files, hunks, references, problems } of changes) {
    total[kind] += 1;
    total.files += files;
    total.hunks += hunks;
    total.references += references;
    total.problems += problems.length;
    for (const problem of problems) console.error(`${kind} ${to}: ${problem}`);
  }
}
const from = performance.now();
await count("commits", examineCommits(folder, { count: counts.commits, createReader }));
await count("ranges", examineRanges(folder, { count: counts.ranges, createReader }));
process.exit(reportTotals(total, { fromMs: from, maxPeakMb: MAX_PEAK_MB, isJson: values.json }));
