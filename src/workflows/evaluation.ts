import { allHandlersFinished, type CancellationScope, condition } from "@temporalio/workflow";
import { totalUsage } from "../core/evaluation/branch-outcome.ts";
import type { DecidedDigest, EvaluationOpenedDigest } from "../core/evaluation/digest.ts";
import { addBranches } from "../core/evaluation/parts.ts";
import { type EvaluationProgress, evaluationMode } from "../core/evaluation/progress.ts";
import { type JobState, openJob } from "../core/job/job.ts";
import { orNoLimit } from "../core/limits.ts";
import { EMPTY_OUTBOX } from "../core/outbox.ts";
import { shownBriefly } from "../core/redact.ts";
import { sumCosts } from "../core/usage.ts";
import { Comparison } from "./evaluation-branches.ts";
import type { EvaluationRequest, EvaluationResult, ExplorationResult } from "./evaluation-input.ts";
import { Inbox, listenToEvaluation } from "./evaluation-listen.ts";
import { StepFailed, Steps } from "./evaluation-steps.ts";
import { keptResult, placed } from "./exploration.ts";
import { messageFrom, settingsFrom, wordsOf } from "./input.ts";
import { asJob, JobRun, openingOf } from "./job.ts";
import { mustBeRequest } from "./request-shapes.ts";
import { orFailed, type RunResult, runFailed } from "./result.ts";

/** Of a stop's reason that a choice repeats, in bytes. */
const SHOWN_BYTES = 200;

type Progress = Omit<EvaluationProgress, "waiting" | "refused">;

/** Runs several agents side by side from where a session stands, and goes on with one of them (PAR-01). */
export function evaluation(request: EvaluationRequest): Promise<EvaluationResult | ExplorationResult> {
  return asJob((outside) => evaluate(request, outside));
}

async function evaluate(
  request: EvaluationRequest,
  outside: CancellationScope | undefined,
): Promise<EvaluationResult | ExplorationResult> {
  mustBeRequest(request, "evaluation");
  const settings = settingsFrom(request);
  const { agents, strategy, limits } = request;
  const name = strategy?.type === "custom" ? strategy.name : (strategy?.type ?? "");
  const prompt = messageFrom(request.prompt, Date.now());
  const steps = new Steps();
  const inbox = new Inbox(() => job.show());
  let progress: Progress = { strategy: name, ...wordsOf(settings), phase: "opening" };
  // Its account is opened when the definitions are known: see `addBranches`.
  const { limits: _, ...opening } = openingOf({
    ...(prompt === undefined ? {} : { task: prompt }),
    settings,
  });
  const initial = openJob({ ...opening, limits: orNoLimit(undefined), mode: "evaluation", parts: [] });
  const job = new JobRun(initial, settings, outside, {
    status: (state) => evaluationMode(state, { ...progress, ...inbox.waiting() }),
    lines: [["Strategy", name]],
    descriptions: {
      stop: "Ends the evaluation: its branches, then the choice among what they have left",
      status: "Where the evaluation stands",
    },
  });
  const tell = (news: Partial<Progress>, state: Partial<JobState> = {}): void => {
    progress = { ...progress, ...news };
    job.change(state);
  };
  listenToEvaluation(inbox);

  try {
    const result = await compare();
    await leave();
    return result;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    const outcome = { type: "failed" as const, fault: error.fault, message: error.message };
    tell({ phase: "ended" }, { outcome });
    await leave();
    throw runFailed({ session: job.state.job, branch: "", outcome } satisfies RunResult, outcome);
  }

  async function compare(): Promise<EvaluationResult | ExplorationResult> {
    const asked = prompt === undefined ? {} : { prompt };
    const opened = await steps.perform(
      "open-evaluation",
      { agents, strategy, ...asked, ...placed(request), ...(limits === undefined ? {} : { limits }) },
      `${agents?.length ?? 0} branches`,
    );
    const comparison = new Comparison(job, opened, steps, strategy.type === "keep");
    tell({ phase: "comparing" }, addBranches(job.state, opened, Date.now()));
    await comparison.runBranches();
    if (opened.judge !== undefined && job.stopped === undefined)
      await comparison.askJudge(opened.judge, () => tell({ phase: "judging" }));
    tell({ phase: "deciding" });
    const decided = await selectBranch(comparison, opened);
    tell({ phase: "ended", decision: decided.decision }, { outcome: decided.outcome });
    return strategy.type === "keep"
      ? keptResult(job.state.job, decided, opened.at.branch)
      : resultOf(job.state.job, decided, opened.at.branch);
  }

  function selectBranch(comparison: Comparison, opened: EvaluationOpenedDigest): Promise<DecidedDigest> {
    const custom = strategy.type === "custom" ? { name: strategy.name } : {};
    const material = () => ({
      ...comparison.ends(),
      branches: opened.branches.map(({ agentName, model }) => ({ agentName, model })),
      strategy: { type: strategy.type, ...custom },
      ...(job.state.stop === undefined ? {} : { stopped: shownBriefly(job.state.stop.reason, SHOWN_BYTES) }),
    });
    return job
      .step(() => steps.perform("decide", material(), name))
      .catch((error: unknown) => {
        if (!(error instanceof StepFailed) || error.fault !== "cancelled") throw error;
        // A stop has ended the asking: the choice is made without it.
        return steps.again("decide", material(), name);
      });
  }

  /** Words that came for the session wait in its inbox, until an activation has brought none. */
  async function leave(): Promise<void> {
    do {
      const left = inbox.take();
      if (left.length > 0) {
        const rest = { branch: "", base: 0, outbox: EMPTY_OUTBOX, inbox: left };
        await steps.perform("record", rest, `${left.length} for the inbox`);
      }
      await condition(allHandlersFinished);
    } while (inbox.size > 0);
  }
}

function resultOf(session: string, decided: DecidedDigest, head: string): EvaluationResult {
  const { decision, branches, evaluationUsage, evaluationCostUsd, outcome, ...words } = decided;
  const selected = branches[decision.selected] as (typeof branches)[number];
  const result: EvaluationResult = {
    session,
    outcome,
    branch: selected.branch ?? head,
    ...(selected.loopId === undefined ? {} : { loopId: selected.loopId }),
    ...words,
    decision,
    selected,
    losers: branches.filter(({ index }) => index !== decision.selected),
    usage: totalUsage(branches, evaluationUsage),
    evaluationUsage,
    costUsd: sumCosts([...branches.map(({ costUsd }) => costUsd), evaluationCostUsd]),
  };
  return orFailed(result);
}
