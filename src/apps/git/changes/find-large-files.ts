import type { Repository } from "../repository/repository.ts";
import { runGit } from "../repository/run-git.ts";

/** Git shows no lines of a larger file, whatever it contains: a diff of it would be read by nobody. */
export const MAX_SHOWN_BYTES = 16 * 1024 * 1024;

/** Reads the sizes of files by their ids, of those that are too large for their lines to be shown. */
export async function findLargeFiles(
  repository: Repository,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const { stdout } = await runGit(repository, ["cat-file", "--batch-check=%(objectname) %(objectsize)"], {
    input: `${ids.join("\n")}\n`,
  });
  const sizes = stdout
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" "));
  return new Map(
    sizes.flatMap(([id = "", size]) => (Number(size) > MAX_SHOWN_BYTES ? [[id, Number(size)] as const] : [])),
  );
}
