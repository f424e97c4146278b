import { type Entry, type Holdfast, HoldfastError } from "../../../client/index.ts";
import { type RunPlan, readPromptNotes } from "../../git/index.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../usage-error.ts";
import { type Present, runPlan } from "./carry-out.ts";
import { presentMessage } from "./commit.ts";
import { presentChangelog, presentText } from "./documents.ts";
import type { GitFlags } from "./git-flags.ts";
import { openSite } from "./open-git.ts";
import { presentReview } from "./review.ts";

const PRESENTERS: Readonly<Record<string, Present>> = {
  review: presentReview,
  commit: presentMessage,
  changelog: presentChangelog,
};

/** Goes on with git work that another process has begun. What is done is not done again. */
export async function resume(
  context: Context,
  reference: string,
  flags: Pick<GitFlags, "trust" | "quiet">,
): Promise<number> {
  const { session, plan } = await withHoldfast(context, async (holdfast) =>
    reference === "last" ? await findLast(holdfast) : await findPlan(holdfast, reference),
  );
  const site = await openSite(context, { ...flags, repo: plan.repository });
  const present = PRESENTERS[String(plan.output?.["command"])] ?? presentText;
  return await runPlan({ ...site, index: plan.index }, session, plan, {}, present, flags.quiet === true);
}

type Found = { readonly session: string; readonly plan: RunPlan };

async function findPlan(holdfast: Holdfast, reference: string): Promise<Found> {
  const session = await holdfast.sessions.find(reference);
  const plan = readPlan(await holdfast.session(session).messages.list({ limit: 1 }));
  if (plan !== undefined) return { session, plan };
  throw new UsageError(
    `Session ${session} is no git work that could be resumed; holdfast continue continues it.`,
  );
}

/** Finds the newest session of git work; critics and chats are none. */
async function findLast(holdfast: Holdfast): Promise<Found> {
  const { sessions } = await holdfast.sessions.list({ limit: 200 });
  for (const { session, agent } of sessions) {
    if (agent?.startsWith("git-") !== true) continue;
    const entries = await holdfast.session(session).messages.list({ limit: 1 }).catch(ignoreUnknown);
    const plan = readPlan(entries);
    if (plan !== undefined) return { session, plan };
  }
  throw new UsageError("There is no git work to resume.");
}

function readPlan(entries: readonly Entry[]): RunPlan | undefined {
  const message = entries[0]?.message;
  return message?.role === "user" ? readPromptNotes(message.metadata)?.plan : undefined;
}

/** A run that no worker has begun has no record yet. */
function ignoreUnknown(error: unknown): readonly Entry[] {
  if (error instanceof HoldfastError && error.code === "session-unknown") return [];
  throw error;
}
