import { setImmediate as nextTurn } from "node:timers/promises";
import { isSourceFile } from "../changes/file-kind.ts";
import { openWorktreeFile } from "../repository/open-worktree-file.ts";
import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { runGit } from "../repository/run-git.ts";
import { findByPattern } from "./find-by-pattern.ts";
import { findByGrammar } from "./grammar.ts";
import { type FileRank, type MappedFile, rankFiles } from "./rank-files.ts";

/** A larger file is generated, or data. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 20_000;
/** After this time the other files are mapped by pattern, which is many times as fast. */
const GRAMMAR_TIME_MS = 15_000;
/** Files that are open at the same time. */
const CONCURRENCY = 16;

export type Mapping = {
  readonly ranks: readonly FileRank[];
  /** How the files were read, and which were not. */
  readonly counts: {
    readonly files: number;
    readonly byGrammar: number;
    readonly byPattern: number;
    readonly skipped: number;
  };
};

/**
 * Maps the source files that git tracks: what they define, and how often each uses the names of the others.
 *
 * @param lifted - Paths and names that a reader cares about.
 */
export async function buildMap(repository: Repository, lifted: ReadonlySet<string>): Promise<Mapping> {
  const all = await listSourceFiles(repository);
  const paths = all.slice(0, MAX_FILES);
  const counts = { files: all.length, byGrammar: 0, byPattern: 0, skipped: all.length - paths.length };
  const until = performance.now() + GRAMMAR_TIME_MS;
  const files: MappedFile[] = [];
  for (let from = 0; from < paths.length; from += CONCURRENCY) {
    if (repository.signal?.aborted === true) throw new RepositoryError("cancelled", "Cancelled");
    const part = paths.slice(from, from + CONCURRENCY);
    const texts = await Promise.all(part.map(async (path) => await readSource(repository.top, path)));
    for (const [at, path] of part.entries()) {
      const text = texts[at];
      if (text === undefined) {
        counts.skipped += 1;
        continue;
      }
      const parsed = performance.now() < until ? await findByGrammar(path, text) : undefined;
      if (parsed === undefined) counts.byPattern += 1;
      else counts.byGrammar += 1;
      files.push({ path, words: countWords(text), ...(parsed ?? findByPattern(text)) });
    }
    // Parsing is synchronous: others get their turn.
    await nextTurn();
  }
  return { ranks: rankFiles(files, lifted), counts };
}

async function listSourceFiles(repository: Repository): Promise<readonly string[]> {
  const { stdout } = await runGit(repository, ["ls-files", "-z", "--cached"]);
  const paths = stdout.toString("utf8").split("\0");
  return [...new Set(paths)].filter(isSourceFile);
}

async function readSource(top: string, path: string): Promise<string | undefined> {
  const opened = await openWorktreeFile(top, path).catch(() => undefined);
  if (opened === undefined) return undefined;
  try {
    if (opened.size > MAX_FILE_BYTES) return undefined;
    const text = await opened.handle.readFile("utf8");
    return text.includes("\0") ? undefined : text;
  } finally {
    await opened.handle.close();
  }
}

function countWords(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(/[A-Za-z_$][\w$]{2,}/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
