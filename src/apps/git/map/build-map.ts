import { isSourceFile } from "../changes/file-kind.ts";
import { openWorktreeFile } from "../repository/open-worktree-file.ts";
import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { runGit } from "../repository/run-git.ts";
import { findByPattern } from "./find-by-pattern.ts";
import { GrammarThread } from "./grammar-thread.ts";
import { type FileRank, type MappedFile, rankFiles } from "./rank-files.ts";
import type { FileSymbols } from "./symbols.ts";

/** A larger file is generated, or data. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 20_000;
/** After this time, the other files are mapped by pattern, which is many times as fast. */
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
  const thread = new GrammarThread();
  try {
    const files = await mapFiles(repository, paths, async (sources) => {
      const parsed = performance.now() < until ? await thread.parse(sources) : [];
      return sources.map((_, at) => parsed[at]);
    });
    counts.skipped += paths.length - files.length;
    counts.byGrammar = files.filter(({ isParsed }) => isParsed).length;
    counts.byPattern = files.length - counts.byGrammar;
    return { ranks: rankFiles(files, lifted), counts };
  } finally {
    await thread.close();
  }
}

type ParsedFile = MappedFile & { readonly isParsed: boolean };
type Source = { readonly path: string; readonly text: string };

async function mapFiles(
  repository: Repository,
  paths: readonly string[],
  parse: (sources: readonly Source[]) => Promise<readonly (FileSymbols | undefined)[]>,
): Promise<readonly ParsedFile[]> {
  const files: ParsedFile[] = [];
  for (let from = 0; from < paths.length; from += CONCURRENCY) {
    if (repository.signal?.aborted === true) throw new RepositoryError("cancelled", "Cancelled");
    const part = paths.slice(from, from + CONCURRENCY);
    const texts = await Promise.all(part.map(async (path) => await readSource(repository.top, path)));
    const sources = part.flatMap((path, at) => {
      const text = texts[at];
      return text === undefined ? [] : [{ path, text }];
    });
    const parsed = await parse(sources);
    for (const [at, { path, text }] of sources.entries()) {
      const symbols = parsed[at];
      const isParsed = symbols !== undefined;
      files.push({ path, words: countWords(text), isParsed, ...(symbols ?? findByPattern(text)) });
    }
  }
  return files;
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
