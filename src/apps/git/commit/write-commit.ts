import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Repository } from "../repository/repository.ts";
import { findCommit } from "../repository/resolve-commit.ts";
import { tryGit } from "../repository/run-git.ts";
import { moveBranch } from "./move-branch.ts";
import { type CommitPlan, readBranch, writeIndexTree } from "./plan-commit.ts";
import { runWritingGit } from "./run-writing-git.ts";
import { type Signature, toEnvironment } from "./signature.ts";
import { checkWritePaths, linkLogs } from "./write-paths.ts";

// Invariants
//   C1. The id of the commit follows from the request alone: no clock, setting or index is read for it.
//   C2. The branch moves at most once for a request, and only from the commit of its plan.
//   C3. Whatever step a kill interrupts, the same request continues: objects have the name of their content, and a branch
//       that has the commit is left as it is.

export type CommitRequest = {
  readonly plan: CommitPlan;
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
};

export type WriteCommitResult =
  | {
      readonly type: "committed";
      readonly commit: string;
      /** An earlier attempt had made it. */
      readonly wasThere: boolean;
    }
  | {
      readonly type: "refused";
      readonly reason: "branch-moved" | "index-changed" | "locked";
      /** What happened, and what to do. */
      readonly message: string;
    };

type CommitStep = "write-commit" | "read-branch" | "compare-index" | "move-branch" | "end";

/**
 * Makes the commit of a plan. Hooks, filters and signers of the repository do not run.
 *
 * @param onStep - Receives each step before it begins.
 */
export async function writeCommit(
  repository: Repository,
  request: CommitRequest,
  onStep: (step: CommitStep) => void = () => {},
): Promise<WriteCommitResult> {
  const { plan } = request;
  await checkWritePaths(repository, plan.branch);
  onStep("write-commit");
  const environment = {
    ...toEnvironment("AUTHOR", request.author),
    ...toEnvironment("COMMITTER", request.committer),
  };
  const parents = plan.parents.flatMap((parent) => ["-p", parent]);
  const commit = await runWritingGit(repository, ["commit-tree", plan.tree, ...parents], {
    input: request.message,
    environment,
  });
  onStep("read-branch");
  const current = await readTip(repository, plan.branch);
  if (current !== null && (await contains(repository, current, commit)))
    return { type: "committed", commit, wasThere: true };
  if (current !== plan.head || (await readBranch(repository)) !== plan.branch) return refuseMoved(plan);
  onStep("compare-index");
  if ((await writeIndexTree(repository)) !== plan.tree) {
    return {
      type: "refused",
      reason: "index-changed",
      message:
        "Other changes are staged than those that the message describes. Nothing was committed. Start again.",
    };
  }
  onStep("move-branch");
  await linkLogs(repository);
  const reason = `${describeKind(plan)}: ${request.message.split("\n", 1)[0]}`;
  const moved = await moveBranch(repository, {
    branch: plan.branch,
    from: plan.head,
    to: commit,
    reason,
    environment,
  });
  onStep("end");
  switch (moved.type) {
    case "moved":
      return { type: "committed", commit, wasThere: false };
    case "elsewhere":
      return refuseMoved(plan);
    case "locked": {
      const message = `Another git is writing to the repository. If none is running, remove ${moved.lock}, and try again.`;
      return { type: "refused", reason: "locked", message };
    }
  }
}

/** Reads the commit at the end of the branch, as it is now. */
async function readTip(repository: Repository, branch: string | null): Promise<string | null> {
  const revision = branch ?? (await readFile(join(repository.gitFolder, "HEAD"), "utf8")).trim();
  // A HEAD that names a branch by now is not the one of the plan.
  if (revision.startsWith("ref:")) return null;
  return (await findCommit(repository, revision)) ?? null;
}

async function contains(repository: Repository, tip: string, commit: string): Promise<boolean> {
  if (tip === commit) return true;
  const answer = await tryGit(repository, ["merge-base", "--is-ancestor", commit, tip]);
  return answer !== undefined;
}

function describeKind({ isAmend, head }: CommitPlan): string {
  if (isAmend) return "commit (amend)";
  return head === null ? "commit (initial)" : "commit";
}

function refuseMoved({ branch, head }: CommitPlan): WriteCommitResult {
  const name = branch?.replace(/^refs\/heads\//, "") ?? "HEAD";
  return {
    type: "refused",
    reason: "branch-moved",
    message: `${name} is no longer at ${head ?? "its beginning"}: another commit was made, or another branch was checked out. Nothing was committed. Start again.`,
  };
}
