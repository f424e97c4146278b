import { relative, resolve, sep } from "node:path";
import type { Task } from "../agents/task-prompt.ts";
import { createGitEvidenceReader } from "../evidence/git-evidence-reader.ts";
import { withRepository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { resolveCommit } from "../repository/resolve-commit.ts";

/** Finds lines of a file at HEAD, whose name counts from the folder in which the user is. */
export async function pinLines(
  repository: string,
  folder: string,
  { file, from, to }: { readonly file: string; readonly from: number; readonly to: number },
): Promise<NonNullable<Task["lines"]>> {
  return await withRepository(repository, {}, async (opened) => {
    const inFolder = relative(opened.top, resolve(folder, file));
    // Outside the repository's folder, a name counts from its root.
    const path = (inFolder.startsWith("..") ? file : inFolder).split(sep).join("/");
    const commit = await resolveCommit(opened, "HEAD");
    const read = await createGitEvidenceReader(opened).readFile(commit, path);
    if (read.type === "unreadable")
      throw new RepositoryError("unknown-path", `${path} cannot be read at HEAD: ${read.reason}`);
    if (to > read.lines.length)
      throw new RepositoryError("unknown-path", `${path} has ${read.lines.length} lines at HEAD, not ${to}`);
    return { path, from, to, commit };
  });
}
