import type { Repository } from "../repository/repository.ts";
import { runGit } from "../repository/run-git.ts";
import { type ChangedFile, type ChangeSet, type ChangeSource, toChangeSet } from "./change-set.ts";
import { DiffReader, type PatchLines } from "./diff-reader.ts";
import { findLargeFiles } from "./find-large-files.ts";

/** The text of a change set passes through; only its counts stay. */
const MAX_DIFF_BYTES = 4 * 1024 * 1024 * 1024;
const DIFF_TIMEOUT_MS = 120_000;

/** No program of the repository's choice makes the text, and a submodule is a commit id, whatever is in its folder. */
const DIFF_OPTIONS = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--find-renames",
  "--ignore-submodules=dirty",
  "--submodule=short",
  "--full-index",
] as const;

/** Reads a change set. Its text passes through `onLine`, and is not kept. */
export async function readChangeSet(
  repository: Repository,
  source: ChangeSource,
  options: {
    readonly paths?: readonly string[];
    readonly onLine?: PatchLines;
    /** Without hunks it is quicker: git names and counts only. */
    readonly withHunks?: boolean;
  } = {},
): Promise<ChangeSet> {
  const { paths = [], onLine, withHunks = true } = options;
  const reader = new DiffReader(onLine);
  const format = [
    "--raw",
    "--numstat",
    ...(withHunks ? ["--patch", "--unified=3"] : []),
    "--no-abbrev",
    "-z",
  ];
  await runGit(
    repository,
    ["diff", ...DIFF_OPTIONS, ...format, ...buildSourceArguments(source), "--", ...paths],
    {
      timeoutMs: DIFF_TIMEOUT_MS,
      maxBytes: MAX_DIFF_BYTES,
      onChunk: (chunk) => {
        reader.push(chunk);
        return "more";
      },
    },
  );
  return toChangeSet(await addSizes(repository, reader));
}

/** Adds the sizes of files that count as binary because they are large. */
async function addSizes(repository: Repository, reader: DiffReader): Promise<readonly ChangedFile[]> {
  const files = reader.end();
  const binary = new Map(files.filter((file) => file.isBinary).map((file) => [file, reader.getSides(file)]));
  const ids = new Set([...binary.values()].flat().filter((id) => /[1-9a-f]/.test(id)));
  const large = await findLargeFiles(repository, [...ids]);
  if (large.size === 0) return files;
  return files.map((file) => {
    const sizes = (binary.get(file) ?? []).flatMap((id) => large.get(id) ?? []);
    return sizes.length === 0 ? file : { ...file, largeBytes: Math.max(...sizes) };
  });
}

/** The arguments of `git diff`, which are options of ours and ids of objects. */
function buildSourceArguments(source: ChangeSource): readonly string[] {
  switch (source.type) {
    case "staged":
      return ["--cached"];
    case "unstaged":
      return [];
    case "commits":
      return [source.from, source.to];
  }
}

/** Returns the id of the tree without files, from which the first commit begins. */
export async function hashEmptyTree(repository: Repository): Promise<string> {
  const { stdout } = await runGit(repository, ["hash-object", "-t", "tree", "--stdin"], { input: "" });
  return stdout.toString("utf8").trim();
}
