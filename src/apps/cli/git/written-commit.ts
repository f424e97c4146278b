import {
  type CommitPlan,
  findCommittedChange,
  findMadeCommit,
  type Published,
  planCommit,
  type RunPlan,
  readIdentity,
  type Signature,
  toVisibleText,
  withRepository,
  writeCommit,
} from "../../git/index.ts";
import { EXIT } from "../exit-codes.ts";
import { UsageError } from "../usage-error.ts";
import { type GitSite, rethrowAsUsage } from "./open-git.ts";

/** The commit that will be made: fixed before its message is written, so that a retry makes the same one. */
export type WrittenCommit = {
  readonly plan: CommitPlan;
  readonly author: Signature;
  readonly committer: Signature;
};

/** Plans the commit, and who makes it when. */
export async function prepareCommit(site: GitSite, isAmend: boolean): Promise<WrittenCommit> {
  return await openRepository(site, async (repository) => {
    const planned = await planCommit(repository, { isAmend });
    if (planned.type === "refused") throw new UsageError(planned.message);
    const { env } = site.context.streams;
    const [author, committer] = [
      await readIdentity(repository, "author", env),
      await readIdentity(repository, "committer", env),
    ];
    if (author.type === "missing") throw new UsageError(author.message);
    if (committer.type === "missing") throw new UsageError(committer.message);
    const now = new Date();
    const date = { time: Math.floor(now.getTime() / 1000), zone: formatZone(-now.getTimezoneOffset()) };
    return {
      plan: planned.plan,
      author: planned.plan.author ?? { ...author.identity, ...date },
      committer: { ...committer.identity, ...date },
    };
  });
}

function formatZone(minutes: number): string {
  const part = (number: number) => `${Math.floor(number)}`.padStart(2, "0");
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${part(size / 60)}${part(size % 60)}`;
}

/** Makes the commit, or finds the one that an earlier process has made. */
export async function makeCommit(site: GitSite, message: string, written: WrittenCommit): Promise<number> {
  const { context } = site;
  const result = await openRepository(site, async (repository) => {
    const made = await findMadeCommit(repository, written);
    if (made !== undefined) return { type: "committed" as const, commit: made, wasThere: true };
    const first = await writeCommit(repository, { ...written, message });
    if (first.type === "committed" || first.reason !== "index-changed") return first;
    // The staged changes have become different, and the agent has read them anew: the message is for what is staged now.
    const { isAmend } = written.plan;
    const again = await planCommit(repository, { isAmend });
    return again.type === "refused"
      ? first
      : await writeCommit(repository, { ...written, plan: again.plan, message });
  });
  if (context.json) context.printJson({ type: "commit", result });
  if (result.type === "refused") {
    context.report(context.err.red(result.message));
    if (!context.json) context.print(toVisibleText(message).trimEnd());
    return EXIT.failed;
  }
  if (!context.json) {
    const branch = written.plan.branch?.replace(/^refs\/heads\//, "") ?? "detached HEAD";
    context.print(toVisibleText(`[${branch} ${result.commit.slice(0, 10)}] ${message.split("\n", 1)[0]}`));
  }
  return EXIT.ok;
}

/** Finds the commit of a plan that an earlier process has made. */
export async function findPublished(site: GitSite, { output }: RunPlan): Promise<Published | undefined> {
  const written = output?.["written"] as WrittenCommit | undefined;
  if (written === undefined) return undefined;
  const staged = await openRepository(
    site,
    async (repository) => await findCommittedChange(repository, written),
  );
  return staged === undefined ? undefined : { staged };
}

async function openRepository<Result>(
  { repository, isTrusted, index }: GitSite,
  work: Parameters<typeof withRepository<Result>>[2],
): Promise<Result> {
  return await withRepository(repository, { isTrusted, index }, work).catch(rethrowAsUsage);
}
