import type { Repository } from "../repository/repository.ts";
import { runGit } from "../repository/run-git.ts";
import { type ChangeSet, type ChangeSource, toChangeSet } from "./change-set.ts";
import { DiffReader, type PatchLines } from "./diff-reader.ts";

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
  return toChangeSet(reader.end());
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
