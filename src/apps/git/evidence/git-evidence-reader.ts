import type { Repository } from "../repository/repository.ts";
import { findCommit } from "../repository/resolve-commit.ts";
import { runGit, tryGit } from "../repository/run-git.ts";
import type { EvidenceReader } from "./evidence-reader.ts";

/** In a reference, the index in place of a commit: staged lines are in none yet. */
export const STAGED = "STAGED";

const MAX_FILE_BYTES = 16 * 1024 * 1024;

type FileAtCommit = Awaited<ReturnType<EvidenceReader["readFile"]>>;

/** Reads files of a repository at a commit, or as they are staged. */
export function createGitEvidenceReader(repository: Repository): EvidenceReader {
  return {
    readFile: async (commit, path) => {
      const tree = commit === STAGED ? "" : await findCommit(repository, commit);
      return tree === undefined
        ? { type: "unreadable", reason: `${commit} is no commit of this repository` }
        : await readBlob(repository, `${tree}:${path}`);
    },
  };
}

/** @param name - `COMMIT:PATH`, or `:PATH` for the index: it begins with no dash, so that it is no option. */
async function readBlob(repository: Repository, name: string): Promise<FileAtCommit> {
  const type = (await tryGit(repository, ["cat-file", "-t", name]))?.trim();
  if (type === undefined) return { type: "unreadable", reason: "there is no such file at that commit" };
  if (type !== "blob") return { type: "unreadable", reason: "is no file" };
  const { stdout, isCut } = await runGit(repository, ["cat-file", "blob", name], {
    maxBytes: MAX_FILE_BYTES,
  });
  if (isCut) return { type: "unreadable", reason: "is too large to be checked" };
  if (stdout.includes(0)) return { type: "unreadable", reason: "is a binary file" };
  const lines = stdout.toString("utf8").split("\n");
  return { type: "text", lines: lines.at(-1) === "" ? lines.slice(0, -1) : lines };
}
