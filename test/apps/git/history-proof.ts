import type { ChangedFile, ChangeSet } from "../../../src/apps/git/changes/change-set.ts";
import {
  formatCoverage,
  openLedger,
  recordCoverage,
  summarizeCoverage,
} from "../../../src/apps/git/changes/coverage-ledger.ts";
import { hashEmptyTree, readChangeSet } from "../../../src/apps/git/changes/read-change-set.ts";
import { readCommits } from "../../../src/apps/git/changes/read-commits.ts";
import { scoreRelevance } from "../../../src/apps/git/changes/relevance.ts";
import { classifySize, describeGuidance, type SizeClass } from "../../../src/apps/git/changes/size-class.ts";
import { findReferenceProblem } from "../../../src/apps/git/evidence/check-reference.ts";
import { cacheReader, type EvidenceReader } from "../../../src/apps/git/evidence/evidence-reader.ts";
import { type Repository, withRepository } from "../../../src/apps/git/repository/repository.ts";
import { runGit } from "../../../src/apps/git/repository/run-git.ts";
import { LineReader } from "../../../src/apps/git/text/line-reader.ts";

/** A change that went through all that a capability does before and after a model, and what does not hold. */
export type ExaminedChange = {
  readonly from: string;
  readonly to: string;
  readonly files: number;
  readonly hunks: number;
  readonly size: SizeClass;
  readonly coverage: string;
  readonly commits: number;
  readonly references: number;
  readonly problems: readonly string[];
};

type ProofOptions = {
  readonly count: number;
  readonly createReader: (repository: Repository) => EvidenceReader;
};

/** Examines the first commits of a repository, each against its first parent. */
export async function* examineCommits(
  folder: string,
  { count, createReader }: ProofOptions,
): AsyncGenerator<ExaminedChange> {
  const commits = (await listCommits(folder)).slice(0, count);
  for (const [to = "", from] of commits) {
    yield await withRepository(folder, {}, async (repository) => {
      const start = from ?? (await hashEmptyTree(repository));
      return await examine(repository, start, to, createReader(repository));
    });
  }
}

/** Examines ranges of commits as for a changelog, spread over the whole history. */
export async function* examineRanges(
  folder: string,
  { count, createReader }: ProofOptions,
): AsyncGenerator<ExaminedChange> {
  const commits = (await listCommits(folder)).map(([id = ""]) => id);
  const step = (commits.length - 1) / count;
  for (let nth = 0; nth < count; nth += 1) {
    const from = commits[Math.floor(nth * step)] ?? "";
    const to = commits[Math.floor((nth + 1) * step)] ?? "";
    yield await withRepository(folder, {}, async (repository) => {
      const examined = await examine(repository, from, to, createReader(repository));
      return await compareCommits(repository, examined);
    });
  }
}

/** Lists the commits of HEAD, the oldest first: each with its parents. */
async function listCommits(folder: string): Promise<readonly (readonly string[])[]> {
  const { stdout } = await withRepository(
    folder,
    {},
    async (one) => await runGit(one, ["rev-list", "--reverse", "--topo-order", "--parents", "HEAD"]),
  );
  return stdout
    .toString("utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
}

async function examine(
  repository: Repository,
  from: string,
  to: string,
  reader: EvidenceReader,
): Promise<ExaminedChange> {
  const seen = new Set<string>();
  const onLine = (_: ChangedFile, hunkId: string) => seen.add(hunkId);
  const changes = await readChangeSet(repository, { type: "commits", from, to }, { onLine });
  const expected = await countByGit(repository, from, to);
  const hunks = changes.files.flatMap((file) => file.hunks).length;
  const summary = summarizeCoverage(recordCoverage(openLedger(changes), [...seen], { type: "read" }));
  const size = classifySize(changes);
  const evidence = await checkEvidence(changes, to, reader);
  const bare = changes.files.filter((file) => file.hunks.length === 0);
  const skipped = new Set(Object.values(summary.skipped).flat());
  const checks: readonly (readonly [boolean, string])[] = [
    [hunks === expected.hunks, `${hunks} hunks, but git has ${expected.hunks}`],
    [changes.files.length === expected.files, `${changes.files.length} files, but git has ${expected.files}`],
    [summary.open.length === 0, `${summary.open.length} hunks open`],
    [summary.total === hunks, `${summary.total} hunks in the ledger, of ${hunks}`],
    [bare.every(({ path }) => skipped.has(path)), "a file without hunks is not in the ledger"],
    [changes.files.every(hasRelevance), "a relevance out of range"],
    [describeGuidance(size, changes) !== "", "no guidance"],
  ];
  return {
    from,
    to,
    files: changes.files.length,
    hunks,
    size,
    coverage: formatCoverage(summary),
    commits: 1,
    references: evidence.references,
    problems: [...checks.flatMap(([holds, problem]) => (holds ? [] : [problem])), ...evidence.problems],
  };
}

function hasRelevance(file: ChangedFile): boolean {
  const { percent } = scoreRelevance(file);
  return percent >= 0 && percent <= 100;
}

/** Counts hunks and files in the plain patch, which is another form than the reader's. */
async function countByGit(
  repository: Repository,
  from: string,
  to: string,
): Promise<{ hunks: number; files: number }> {
  let hunks = 0;
  const lines = new LineReader(16, (line) => {
    if (line.startsWith("@@ ")) hunks += 1;
  });
  const onChunk = (chunk: Buffer) => {
    lines.push(chunk);
    return "more" as const;
  };
  const range = ["--find-renames", from, to, "--"];
  const limit = { maxBytes: 4 * 1024 * 1024 * 1024 };
  await runGit(repository, ["diff", "--no-ext-diff", "--no-textconv", ...range], { ...limit, onChunk });
  lines.end();
  const { stdout } = await runGit(repository, ["diff", "--name-only", "-z", ...range], limit);
  return { hunks, files: stdout.toString("utf8").split("\0").length - 1 };
}

const SUBMODULE = "160000";
/** Each needs a few git processes. */
const MAX_FILES_WITH_EVIDENCE = 5;

/** Checks that the lines of a hunk hold as evidence, and lines after the end of the file do not. */
async function checkEvidence(
  { files }: ChangeSet,
  commit: string,
  source: EvidenceReader,
): Promise<{ references: number; problems: readonly string[] }> {
  const reader = cacheReader(source);
  const problems: string[] = [];
  let references = 0;
  const readable = files.filter(({ change, newMode }) => change !== "deleted" && newMode !== SUBMODULE);
  for (const { path, hunks } of readable.slice(0, MAX_FILES_WITH_EVIDENCE)) {
    for (const { newStart, newLines } of hunks) {
      if (newLines === 0) continue;
      const found = await findReferenceProblem(
        `${commit}:${path}:${newStart}-${newStart + newLines - 1}`,
        reader,
      );
      references += 1;
      if (found !== undefined && !found.endsWith("the lines are blank.")) problems.push(found);
    }
    if (hunks.length === 0) continue;
    references += 1;
    if ((await findReferenceProblem(`${commit}:${path}:999999999`, reader)) === undefined)
      problems.push(`${path} has a line that it cannot have`);
  }
  return { references, problems };
}

/** Compares the commits that a changelog is written from with git's count. */
async function compareCommits(repository: Repository, examined: ExaminedChange): Promise<ExaminedChange> {
  const { from, to, problems } = examined;
  const { stdout } = await runGit(repository, ["rev-list", "--count", to, `^${from}`]);
  const expected = Number(stdout.toString("utf8"));
  const commits = await readCommits(repository, { from, to, count: expected + 1 });
  const wrong = commits.length === expected ? [] : [`${commits.length} commits, but git has ${expected}`];
  const mute = commits.filter(({ subject }) => subject === "").map(({ id }) => `${id} has no subject`);
  return { ...examined, commits: commits.length, problems: [...problems, ...wrong, ...mute] };
}
