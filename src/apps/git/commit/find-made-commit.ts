import { isDeepStrictEqual } from "node:util";
import type { ChangeSource } from "../changes/change-set.ts";
import { hashEmptyTree } from "../changes/read-change-set.ts";
import type { Repository } from "../repository/repository.ts";
import { findCommit } from "../repository/resolve-commit.ts";
import { runGit } from "../repository/run-git.ts";
import { readRawCommit } from "./plan-commit.ts";
import type { CommitRequest } from "./write-commit.ts";

/** More commits than a user makes before they resume. */
const MAX_LATER_COMMITS = 1_000;

/**
 * Finds the commit of a request that an earlier process has made, maybe with another tree, because the staged changes had become
 * different: it has the parents, the author and the committer of the request, with their dates.
 */
export async function findMadeCommit(
  repository: Repository,
  { plan, author, committer }: Omit<CommitRequest, "message">,
): Promise<string | undefined> {
  const { branch, head, parents } = plan;
  const tip = await findCommit(repository, branch ?? "HEAD");
  if (tip === undefined || tip === head) return undefined;
  const range = head === null ? [tip] : [tip, `^${head}`];
  const options = ["--format=%H %ct", `--max-count=${MAX_LATER_COMMITS}`, "--no-show-signature"];
  const { stdout } = await runGit(repository, ["log", ...options, ...range, "--"]);
  for (const line of stdout.toString("utf8").trim().split("\n")) {
    const [id = "", time] = line.split(" ");
    if (time !== `${committer.time}`) continue;
    if (isDeepStrictEqual(await readRawCommit(repository, id), { parents, author, committer })) return id;
  }
  return undefined;
}

/** Returns what was staged for a request, as the commit has it that an earlier process has made of it. */
export async function findCommittedChange(
  repository: Repository,
  request: Omit<CommitRequest, "message">,
): Promise<ChangeSource | undefined> {
  const to = await findMadeCommit(repository, request);
  if (to === undefined) return undefined;
  return { type: "commits", from: request.plan.head ?? (await hashEmptyTree(repository)), to };
}
