import { readChangeSet, withRepository } from "../../git/index.ts";
import { UsageError } from "../usage-error.ts";
import { type GitSite, rethrowAsUsage } from "./open-git.ts";

/** Throws if nothing is staged: no model needs to be asked about that. */
export async function assertStaged({ repository, isTrusted, index }: GitSite): Promise<void> {
  const { files } = await withRepository(
    repository,
    { isTrusted, index },
    async (opened) => await readChangeSet(opened, { type: "staged" }, { withHunks: false }),
  ).catch(rethrowAsUsage);
  if (files.length > 0) return;
  throw new UsageError(
    "Nothing is staged. Add files with git add, or name another change, such as --commit HEAD or --base main.",
  );
}
