import {
  allHandlersFinished,
  CancellationScope,
  condition,
  patched,
  workflowInfo,
} from "@temporalio/workflow";
import { sumCosts } from "../core/budget/usage.ts";
import { totalUsage } from "../core/evaluation/branch-outcome.ts";
import type { DecidedDigest } from "../core/evaluation/digest.ts";
import {
  type EvaluationProgress,
  evaluationDashboard,
  evaluationStatus,
} from "../core/evaluation/progress.ts";
import { EMPTY_OUTBOX } from "../core/machine/outbox.ts";
import type { PersonMessage } from "../core/machine/state/state.ts";
import { countMessages, hasRoomFor, withRefused } from "../core/machine/waiting-messages.ts";
import { shownBriefly } from "../platform/text/redact.ts";
import type { EvaluationRequest, EvaluationResult, ExplorationResult } from "./evaluation-input.ts";
import { listenToEvaluation } from "./evaluation-listen.ts";
import { Comparison } from "./evaluation-parts.ts";
import { StepFailed, Steps } from "./evaluation-steps.ts";
import { keptResult, placed } from "./exploration.ts";
import { messageFrom, settingsFrom, wordsOf } from "./input.ts";
import { PATCHES } from "./patches.ts";
import { mustBeRequest } from "./request-shapes.ts";
import { orFailed, type RunResult, runFailed } from "./result.ts";
import { showcaseOf } from "./shown.ts";

/** What an operator reads of the prompt, and of a reason, in bytes. */
const SHOWN_BYTES = 200;

/** Runs several agents side by side from where a session stands, and goes on with one of them (PAR-01). */
export async function evaluation(request: EvaluationRequest): Promise<EvaluationResult | ExplorationResult> {
  return await CancellationScope.nonCancellable(() => evaluate(request, CancellationScope.current().parent));
}

async function evaluate(
  request: EvaluationRequest,
  outside: CancellationScope | undefined,
): Promise<EvaluationResult | ExplorationResult> {
  mustBeRequest(request, "evaluation");
  const session = workflowInfo().workflowId;
  const settings = settingsFrom(request);
  const show = showcaseOf(settings.searchAttributes, {
    details: evaluationDashboard,
    status: evaluationStatus,
  });
  const { agents, strategy, limits } = request;
  const prompt = messageFrom(request.prompt, Date.now());
  const steps = new Steps();
  const work = new CancellationScope();
  const choice = new CancellationScope();
  const kept: PersonMessage[] = [];
  let progress: EvaluationProgress = {
    session,
    strategy: strategy?.type === "custom" ? strategy.name : (strategy?.type ?? ""),
    goal: settings.words === "none" ? "" : shownBriefly(prompt?.text ?? "", SHOWN_BYTES),
    ...wordsOf(settings),
    phase: "opening",
    branches: [],
    waiting: 0,
  };
  const tell = (news: Partial<EvaluationProgress>): void => {
    progress = { ...progress, ...news };
    show(progress);
  };
  const stop = (words: string): void => {
    if (progress.stop !== undefined || progress.phase === "ended") return;
    tell({ stop: shownBriefly(words, SHOWN_BYTES) });
    work.cancel();
    if (progress.phase === "deciding" && patched(PATCHES.stopEndsOwnSteps)) choice.cancel();
  };
  listenToEvaluation({
    status: () => evaluationStatus(progress),
    stop,
    keep: (message) => {
      if (kept.some(({ id }) => id === message.id)) return kept.length;
      if (hasRoomFor(countMessages(kept), message)) kept.push(message);
      else tell({ refused: withRefused(progress.refused, message) });
      tell({ waiting: kept.length, waitingBytes: countMessages(kept).bytes });
      return kept.length;
    },
    full: (words) => {
      const message = typeof words === "string" ? { text: words } : words;
      const waiting = countMessages(kept);
      const isKnown = kept.some(({ id }) => "id" in message && id === message.id);
      return isKnown || hasRoomFor(waiting, message) ? undefined : waiting;
    },
  });
  outside?.cancelRequested.catch(() => stop("the workflow was cancelled"));
  show(progress);

  try {
    const result = await compared();
    await leave();
    return result;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    const outcome = { type: "failed" as const, fault: error.fault, message: error.message };
    tell({ phase: "ended", outcome });
    await leave();
    throw runFailed({ session, branch: "", outcome } satisfies RunResult, outcome);
  }

  async function compared(): Promise<EvaluationResult | ExplorationResult> {
    const asked = prompt === undefined ? {} : { prompt };
    const opened = await steps.perform(
      "open-evaluation",
      { agents, strategy, ...asked, ...placed(request), ...(limits === undefined ? {} : { limits }) },
      `${agents?.length ?? 0} branches`,
    );
    const comparison = new Comparison(opened, {
      session,
      settings,
      steps,
      tell,
      read: () => progress,
      explores: strategy.type === "keep",
    });
    await comparison.run(work);
    const name = strategy.type === "custom" ? { name: strategy.name } : {};
    tell({ phase: "deciding" });
    const material = () => ({
      ...comparison.ends(),
      branches: opened.branches.map(({ agentName, model }) => ({ agentName, model })),
      strategy: { type: strategy.type, ...name },
      ...(progress.stop === undefined ? {} : { stopped: progress.stop }),
    });
    const decided = await choice
      .run(() => steps.perform("decide", material(), progress.strategy))
      .catch((error: unknown) => {
        if (!(error instanceof StepFailed) || error.fault !== "cancelled") throw error;
        // A stop has ended the asking: the choice is made without it.
        return steps.again("decide", material(), progress.strategy);
      });
    tell({ phase: "ended", decision: decided.decision, outcome: decided.outcome });
    return strategy.type === "keep"
      ? keptResult(session, decided, opened.at.branch)
      : resultOf(decided, opened.at.branch);
  }

  /** Words that came for the session wait in its inbox, until an activation has brought none. */
  async function leave(): Promise<void> {
    do {
      const inbox = kept.splice(0);
      if (inbox.length > 0) {
        const rest = { branch: "", base: 0, outbox: EMPTY_OUTBOX, inbox };
        await steps.perform("record", rest, `${inbox.length} for the inbox`);
      }
      await condition(allHandlersFinished);
    } while (kept.length > 0);
  }

  function resultOf(decided: DecidedDigest, head: string): EvaluationResult {
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
}
