import { allHandlersFinished, type CancellationScope, condition } from "@temporalio/workflow";
import { toUsd } from "../core/budget/amounts.ts";
import { NO_USAGE, sumCosts } from "../core/budget/usage.ts";
import { sumUsage } from "../core/evaluation/branch-outcome.ts";
import type { EvaluationOpenedDigest, SelectedBranchDigest } from "../core/evaluation/evaluation-digest.ts";
import { type EvaluationProgress, evaluationMode } from "../core/evaluation/evaluation-progress.ts";
import { addBranches } from "../core/evaluation/parts.ts";
import { getSpentByJob, type JobState, openJob } from "../core/job/job.ts";
import { EMPTY_OUTBOX } from "../core/machine/outbox.ts";
import { formatRecordLabel } from "../core/machine/steps.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import { redactPreview } from "../platform/text/redact.ts";
import { Comparison } from "./evaluation-branches.ts";
import { Inbox, registerEvaluationHandlers } from "./evaluation-handlers.ts";
import type { EvaluationRequest, EvaluationResult, ExplorationResult } from "./evaluation-input.ts";
import { EvaluationStepError, EvaluationSteps } from "./evaluation-steps.ts";
import { buildExplorationResult, getBranchStarts } from "./exploration.ts";
import { buildOpening, JobRun, runAsJob } from "./job.ts";
import { checkRequest } from "./request-shapes.ts";
import { buildSettings, getRedaction, toInboundMessage } from "./run-input.ts";
import { buildRunFailure, type RunResult, throwIfFailed } from "./run-result.ts";

/** The maximum size in bytes of a stop's reason in the decision. */
const STOP_REASON_BYTES = 200;

type Progress = Omit<EvaluationProgress, "waitingMessages" | "rejected">;

/** Runs several agents side by side from the session's current position, and continues with one of them (PAR-01). */
export function evaluation(request: EvaluationRequest): Promise<EvaluationResult | ExplorationResult> {
  return runAsJob((outside) => evaluate(request, outside));
}

async function evaluate(
  request: EvaluationRequest,
  parentScope: CancellationScope | undefined,
): Promise<EvaluationResult | ExplorationResult> {
  checkRequest(request, "evaluation");
  const settings = buildSettings(request);
  const { agents, strategy, limits } = request;
  const name = strategy?.type === "custom" ? strategy.name : (strategy?.type ?? "");
  const startedAtMs = Date.now();
  const prompt = toInboundMessage(request.prompt, startedAtMs);
  const steps = new EvaluationSteps();
  const inbox = new Inbox(() => job.publish());
  let progress: Progress = { strategy: name, ...getRedaction(settings), phase: "opening" };
  // The account is opened when the definitions are known: see `addBranches`.
  const opening = buildOpening({ ...omitUndefined({ task: prompt }), settings });
  const initial = openJob({ ...opening, mode: "evaluation", parts: [] });
  const job = new JobRun(initial, settings, parentScope, {
    status: (state) => evaluationMode(state, { ...progress, ...inbox.waiting() }),
    lines: [["Strategy", name]],
    descriptions: {
      stop: "Ends the evaluation: stops its branches, then chooses among what they have produced",
      status: "Reports the state of the evaluation",
    },
  });
  const report = (update: Partial<Progress>, state: Partial<JobState> = {}): void => {
    progress = { ...progress, ...update };
    job.update(state);
  };
  registerEvaluationHandlers(inbox);

  try {
    const result = await compare();
    await recordInbox();
    return result;
  } catch (error) {
    if (!(error instanceof EvaluationStepError)) throw error;
    const outcome = { type: "failed" as const, fault: error.fault, message: error.message };
    report({ phase: "ended" }, { outcome });
    await recordInbox();
    const { turns, tokens, nanoUsd } = getSpentByJob(job.state);
    const usage = { ...NO_USAGE, totalTokens: tokens };
    const totals = { usage, costUsd: toUsd(nanoUsd), turns, durationMs: Date.now() - startedAtMs };
    const result: RunResult = { session: job.state.job, branch: "", outcome, ...totals };
    throw buildRunFailure(result, outcome);
  }

  async function compare(): Promise<EvaluationResult | ExplorationResult> {
    const asked = omitUndefined({ prompt });
    const opened = await steps.perform(
      "open-evaluation",
      {
        agents,
        strategy,
        ...asked,
        ...getBranchStarts(request),
        ...omitUndefined({ limits }),
      },
      `${agents?.length ?? 0} branches`,
    );
    const comparison = new Comparison(job, opened, steps, strategy.type === "keep");
    report({ phase: "comparing" }, addBranches(job.state, opened, Date.now()));
    await comparison.runBranches();
    if (opened.judge !== undefined && job.stopOutcome === undefined)
      await comparison.askJudge(opened.judge, () => report({ phase: "judging" }));
    report({ phase: "deciding" });
    const decided = await selectBranch(comparison, opened);
    report({ phase: "ended", decision: decided.decision }, { outcome: decided.outcome });
    const start = { branch: opened.at.branch, startedAtMs };
    return strategy.type === "keep"
      ? buildExplorationResult(job.state.job, decided, start)
      : buildResult(job.state.job, decided, start);
  }

  function selectBranch(
    comparison: Comparison,
    opened: EvaluationOpenedDigest,
  ): Promise<SelectedBranchDigest> {
    const custom = strategy.type === "custom" ? { name: strategy.name } : {};
    const material = () => ({
      ...comparison.ends(),
      branches: opened.branches.map(({ agentName, model }) => ({ agentName, model })),
      strategy: { type: strategy.type, ...custom },
      ...(job.state.stop === undefined
        ? {}
        : { stopReason: redactPreview(job.state.stop.reason, STOP_REASON_BYTES) }),
    });
    return job
      .runStep(() => steps.perform("select-branch", material(), name))
      .catch((error: unknown) => {
        if (!(error instanceof EvaluationStepError) || error.fault !== "cancelled") throw error;
        // A stop has cancelled the strategy: the step chooses without it.
        return steps.repeat("select-branch", material(), name);
      });
  }

  /** Stores messages for the session in its inbox, until an activation brings none. */
  async function recordInbox(): Promise<void> {
    do {
      const left = inbox.take();
      if (left.length > 0) {
        const rest = { branch: "", base: 0, outbox: EMPTY_OUTBOX, inbox: left };
        await steps.perform("record", rest, formatRecordLabel(left.length));
      }
      await condition(allHandlersFinished);
    } while (inbox.size > 0);
  }
}

function buildResult(
  session: string,
  decided: SelectedBranchDigest,
  { branch: head, startedAtMs }: { readonly branch: string; readonly startedAtMs: number },
): EvaluationResult {
  const { decision, branches, evaluationUsage, evaluationCostUsd, outcome, ...words } = decided;
  const selected = branches[decision.selected] as (typeof branches)[number];
  const result: EvaluationResult = {
    session,
    outcome,
    branch: selected.branch ?? head,
    ...omitUndefined({ loopId: selected.loopId }),
    ...words,
    decision,
    selected,
    otherBranches: branches.filter(({ index }) => index !== decision.selected),
    usage: sumUsage(branches, evaluationUsage),
    evaluationUsage,
    costUsd: sumCosts([...branches.map(({ costUsd }) => costUsd), evaluationCostUsd]),
    turns: branches.reduce((sum, { turns }) => sum + turns, 0),
    durationMs: Date.now() - startedAtMs,
  };
  return throwIfFailed(result);
}
