import {
  type CommitPlan,
  formatMessage,
  planCommit,
  readIdentity,
  type Signature,
  toVisibleText,
  withRepository,
  writeCommit,
} from "../../git/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { UsageError } from "../usage-error.ts";
import { assertStaged } from "./assert-staged.ts";
import { carryOut, type Made, type Present } from "./carry-out.ts";
import type { GitFlags } from "./git-flags.ts";
import { type GitSite, openSite, rethrowAsUsage } from "./open-git.ts";

type Flags = GitFlags & { readonly write?: boolean; readonly amend?: boolean };

/** The commit that will be made: fixed before its message is written, so that a retry makes the same one. */
type WrittenCommit = { readonly plan: CommitPlan; readonly author: Signature; readonly committer: Signature };

/** Writes the message of a commit from the staged changes, and makes the commit if the user wants it. */
export async function commit(context: Context, flags: Flags): Promise<number> {
  const { write = false, amend = false } = flags;
  const site = await openSite(context, flags);
  if (!amend) await assertStaged(site);
  const written = write ? await prepareCommit(site, amend) : undefined;
  const work = {
    capability: "commit",
    // Of an amended commit, what is in it already is a part of the change.
    change: amend ? ({ type: "commit", commit: "HEAD" } as const) : ({ type: "staged" } as const),
    task: amend ? { question: AMEND_NOTE } : {},
    output: { command: "commit", ...(written === undefined ? {} : { written }) },
  };
  return await carryOut(site, flags, work, presentMessage);
}

const AMEND_NOTE =
  'The commit is amended: its message must describe HEAD together with what is staged. Call git_diff with from="staged" as well.';

async function prepareCommit(site: GitSite, isAmend: boolean): Promise<WrittenCommit> {
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

/** Prints the message, or makes the commit for which it was written. */
export const presentMessage: Present = async (site, { artifact, isUnstructured }, { written }) => {
  const { context } = site;
  const message = readMessage(artifact);
  const isMessage = artifact.type === "GeneratedMessage" && !isUnstructured;
  if (written !== undefined && isMessage) return await makeCommit(site, message, written as WrittenCommit);
  // Of what is no message for certain, the hook and scripts must make none.
  const isFailed = artifact.type !== "GeneratedMessage" || (written !== undefined && !isMessage);
  if (!context.json) context.print(toVisibleText(message).trimEnd());
  return isFailed ? EXIT.failed : EXIT.ok;
};

function readMessage(artifact: Made["artifact"]): string {
  if (artifact.type === "GeneratedMessage") return formatMessage(artifact.value);
  const { text } = artifact.value as { readonly text?: unknown };
  return typeof text === "string" ? text : JSON.stringify(artifact.value, null, 2);
}

async function makeCommit(site: GitSite, message: string, written: WrittenCommit): Promise<number> {
  const { context } = site;
  const result = await openRepository(site, async (repository) => {
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

async function openRepository<Result>(
  { repository, isTrusted, index }: GitSite,
  work: Parameters<typeof withRepository<Result>>[2],
): Promise<Result> {
  return await withRepository(repository, { isTrusted, index }, work).catch(rethrowAsUsage);
}
