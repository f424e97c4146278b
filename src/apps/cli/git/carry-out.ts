import { randomUUID } from "node:crypto";
import type { Session } from "../../../client/index.ts";
import {
  buildRun,
  type CapabilityResult,
  findCapability,
  loadGitCapabilities,
  type RunPlan,
  runCapability,
  type Task,
  usesCritic,
} from "../../git/index.ts";
import type { Context } from "../context.ts";
import { EXIT, OUTCOME_EXIT_CODES } from "../exit-codes.ts";
import { handleInterrupts } from "../interrupts.ts";
import { describeOutcome } from "../text.ts";
import { type GitFlags, readGitFlags } from "./git-flags.ts";
import { type GitSite, openGitStack, rethrowAsUsage } from "./open-git.ts";
import { reportFacts } from "./report-facts.ts";
import { RunProgress } from "./run-progress.ts";
import { findPublished } from "./written-commit.ts";

export type Made = Extract<CapabilityResult, { type: "made" }>;

/** Does something with the artifact, such as printing it, and returns the exit code. */
export type Present = (
  site: GitSite,
  made: Made,
  output: Readonly<Record<string, unknown>>,
) => Promise<number>;

export type Work = {
  readonly capability: string;
  readonly change?: RunPlan["change"];
  readonly task?: Omit<Task, "change">;
  /** What the command needs to know when the result is there, also in another process that resumes it. */
  readonly output: Readonly<Record<string, unknown>>;
};

/** Carries out a capability for a command, and presents what it makes. */
export async function carryOut(
  site: GitSite,
  flags: GitFlags,
  work: Work,
  present: Present,
): Promise<number> {
  const { repository, home, isTrusted, index, settings } = site;
  const loaded = loadGitCapabilities(home, isTrusted ? repository : undefined);
  const capability = findCapability(loaded, work.capability);
  const plan: RunPlan = {
    capability: work.capability,
    ...{ repository, index, change: work.change, output: { ...work.output } },
    ...readGitFlags(flags, settings),
    hasCritic: usesCritic(capability, flags.critic ?? (settings.critic === false ? false : undefined)),
  };
  const task = { ...work.task, instructions: flags.instructions };
  return await runPlan(site, flags.session ?? randomUUID(), plan, task, present, flags.quiet === true);
}

/** Carries out a plan in a session: a new one, or one whose work an earlier process has begun. */
export async function runPlan(
  site: GitSite,
  session: string,
  plan: RunPlan,
  task: Omit<Task, "change">,
  present: Present,
  isQuiet: boolean,
): Promise<number> {
  const { context, home, isTrusted } = site;
  const run = buildRun({ session, plan, task, home, isTrusted, env: context.streams.env });
  const stack = await openGitStack(context);
  const leave = new AbortController();
  const progress = new RunProgress(context, isQuiet);
  let current: Session | undefined;
  let isStopping = false;
  const off = handleInterrupts(
    context.streams.signals,
    () => {
      isStopping = true;
      context.report(context.err.yellow("\nStopping … Press Ctrl-C again to exit."));
      current?.stop("interrupted at the terminal").catch((error: Error) => context.report(error.message));
    },
    () => leave.abort(),
  );
  try {
    const result = await runCapability(stack.holdfast, run, {
      signal: leave.signal,
      onSession: (one) => {
        current = one;
        progress.follow(one);
      },
      onEvent: (event) => progress.showEvent(event),
      onPhase: (phase) => progress.showPhase(phase),
      isStopping: () => isStopping,
      findPublished: async () => await findPublished(site, plan),
    }).catch(rethrowAsUsage);
    if (result.type === "unfinished") return reportUnfinished(context, result);
    const exitCode = await present(site, result, plan.output ?? {});
    const format = plan.output?.["format"];
    if (!isQuiet || context.json)
      reportFacts(context, result, exitCode, format === "text" || format === "markdown");
    return exitCode;
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    context.report(context.err.yellow(`Left. To resume: holdfast git resume ${session}`));
    return EXIT.interrupted;
  } finally {
    off();
    await stack.close();
  }
}

function reportUnfinished(
  context: Context,
  { session, outcome }: Extract<CapabilityResult, { type: "unfinished" }>,
): number {
  const exitCode = outcome.type === "moving" ? EXIT.failed : OUTCOME_EXIT_CODES[outcome.type];
  if (context.json) context.printJson({ type: "result", session, outcome, exitCode });
  const what = outcome.type === "moving" ? outcome.reason : describeOutcome(outcome);
  context.report(context.err.red(`There is no result: ${what}`));
  context.report(context.err.dim(`To resume: holdfast git resume ${session}`));
  // An answer from which no artifact can be read is a failure of the agent.
  return exitCode === EXIT.ok ? EXIT.failed : exitCode;
}
