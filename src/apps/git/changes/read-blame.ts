import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { runGit, tryGit } from "../repository/run-git.ts";

/** A line with the commit that it comes from. */
export type BlamedLine = {
  /** Counts from 1, in the file as it is now. */
  readonly line: number;
  /** Zeros for a line that is not committed. */
  readonly commit: string;
  readonly author: string;
  /** Unix seconds. */
  readonly time: number;
  readonly summary: string;
  readonly text: string;
};

export type BlameQuery = {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  /** The id of a commit; the work tree if absent. */
  readonly commit?: string | undefined;
};

/** Git holds the whole file, in every version that it compares. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_LINE_CHARS = 1_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Reads who wrote the lines of a file. */
export async function readBlame(
  repository: Repository,
  { path, from, to, commit }: BlameQuery,
): Promise<readonly BlamedLine[]> {
  const size = await findSize(repository, path, commit);
  if (size > MAX_FILE_BYTES) {
    const megabytes = MAX_FILE_BYTES / (1024 * 1024);
    throw new RepositoryError(
      "failed",
      `${JSON.stringify(path)} is larger than ${megabytes} MB, the most for git_blame`,
    );
  }
  const range = commit === undefined ? [] : [commit];
  const { stdout } = await runGit(
    repository,
    ["blame", "--line-porcelain", "-L", `${from},${to}`, ...range, "--", path],
    { maxBytes: MAX_OUTPUT_BYTES },
  );
  return parseBlame(stdout.toString("utf8"));
}

async function findSize({ top, ...repository }: Repository, path: string, commit?: string): Promise<number> {
  const size =
    commit === undefined
      ? await lstat(join(top, path)).then(
          (stats) => (stats.isFile() ? stats.size : undefined),
          () => undefined,
        )
      : Number(await tryGit({ top, ...repository }, ["cat-file", "-s", `${commit}:${path}`]));
  if (size !== undefined && !Number.isNaN(size)) return size;
  throw new RepositoryError("unknown-path", `${JSON.stringify(path)} is no file of the repository`);
}

function parseBlame(output: string): readonly BlamedLine[] {
  const lines: BlamedLine[] = [];
  let fields = new Map<string, string>();
  for (const line of output.split("\n")) {
    if (!line.startsWith("\t")) {
      const [name = "", ...rest] = line.split(" ");
      if (/^[0-9a-f]{40,64}$/.test(name))
        fields = new Map([
          ["commit", name],
          ["line", rest[1] ?? ""],
        ]);
      else fields.set(name, rest.join(" "));
      continue;
    }
    lines.push({
      line: Number(fields.get("line")),
      commit: fields.get("commit") ?? "",
      author: fields.get("author") ?? "",
      time: Number(fields.get("author-time")),
      summary: fields.get("summary") ?? "",
      text: line.slice(1, 1 + MAX_LINE_CHARS),
    });
  }
  return lines;
}
