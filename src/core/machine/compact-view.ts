import { addCosts, addUsage } from "../budget/usage.ts";
import { countEntries, sumViewTokens } from "../view/view.ts";
import { addUnreportedTokens as tokensOf } from "./compaction-trigger.ts";
import {
  completeDispatch,
  countLostWorkers,
  dispatch,
  formatWorkerLoss,
  MAX_LOST_IN_A_ROW,
  redispatch,
} from "./dispatch.ts";
import { emit } from "./outbox.ts";
import { type PhaseOf, requireLoop, requirePinned } from "./phase.ts";
import type { CompactionReason } from "./state/compaction.ts";
import type { CompactDigest, Failure } from "./state/digest.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { State } from "./state/state.ts";

// One activity makes the view smaller, right before an answer is requested. The record stays unchanged.

/** Counts what the next request carries: the vendor's last count, plus estimates for what was added since. */
export function countContextTokens({ view, reportedSize }: State): number {
  return tokensOf(sumViewTokens(view), reportedSize);
}

/** Returns why the view must be made smaller before the model is called, or nothing. */
export function findCompactionReason(state: State): CompactionReason | undefined {
  const { context } = requirePinned(state);
  if (context === undefined) return undefined;
  if (state.requestedCompaction !== undefined) return { type: "request", ...state.requestedCompaction };
  return countContextTokens(state) > context.compactAbove ? { type: "size" } : undefined;
}

export function startCompaction(state: State, reason: CompactionReason): State {
  const { requestedCompaction: _, ...rest } = state;
  const given = dispatch(rest);
  return { ...given.state, phase: { type: "compacting", dispatch: given.dispatch, reason } };
}

/** Applies the smaller view; emits events only when something has changed. */
export function applyCompaction(state: State, phase: PhaseOf<"compacting">, digest: CompactDigest): State {
  const settled = (digest.fallbacks ?? []).reduce<State>(
    (next, fallback) =>
      emit(next, { type: "ModelFallback", turn: requireLoop(state).turn, for: "compaction", ...fallback }),
    addCompactionCost(completeDispatch(state, phase.dispatch, digest.branch), digest),
  );
  const { spans, messagesBefore, messagesAfter, tokensBefore, tokensAfter, loopsCompacted } = digest;
  if (spans === undefined) return settled;
  const position = state.length;
  const started = emit(settled, {
    type: "CompactionStarted",
    estimatedTokens: countContextTokens(state),
    messageCount: countEntries(state.view),
  });
  const ended = emit(started, {
    type: "CompactionEnded",
    position,
    messagesBefore,
    messagesAfter,
    estimatedTokensBefore: tokensBefore,
    estimatedTokensAfter: tokensAfter,
    loopsCompacted,
  });
  const { reportedSize: _, ...rest } = ended;
  return { ...rest, length: position + 1, view: { ...ended.view, spans, prunableFrom: position + 1 } };
}

/** Adds the cost of a summary, which counts for the loop's limits. */
function addCompactionCost(state: State, { usage, costUsd = 0 }: CompactDigest): State {
  if (usage === undefined) return state;
  const loop = requireLoop(state);
  return {
    ...state,
    loop: { ...loop, usage: addUsage(loop.usage, usage), costUsd: addCosts(loop.costUsd, costUsd) },
  };
}

/**
 * Handles a failed compaction. After a lost worker it is dispatched again, up to three times.
 *
 * `rejected` has certainly written nothing, so the model can be called with the unchanged view. After `given-up`, the
 * compaction may be in the transcript where the answer would go.
 */
export function handleCompactionFailure(
  state: State,
  phase: PhaseOf<"compacting">,
  stepFailure: StepFailure,
): { type: "again"; state: State } | { type: "rejected" | "given-up"; failure: Failure } {
  if (stepFailure.type === "failed") return { type: "rejected", failure: stepFailure.failure };
  if (stepFailure.type === "cancelled") {
    return { type: "given-up", failure: { fault: "compaction", message: "it was cancelled" } };
  }
  if (countLostWorkers(phase.dispatch.lostWorkers, stepFailure) >= MAX_LOST_IN_A_ROW) {
    const message = `${formatWorkerLoss(stepFailure, "during the compaction")}; it is not retried`;
    return { type: "given-up", failure: { fault: "worker-lost", message } };
  }
  return {
    type: "again",
    state: { ...state, phase: { ...phase, dispatch: redispatch(phase.dispatch, stepFailure) } },
  };
}

/** Formats an error that says what was rejected and what was tried. */
export function formatOverflow(state: State, text: string, wasCompacted: boolean): string {
  const { turn } = requireLoop(state);
  if (requirePinned(state).context === undefined) {
    return `The context does not fit the model: ${text}. The definition disables compaction (\`context: null\`).`;
  }
  if (!wasCompacted) return `The context does not fit the model: ${text}.`;
  return `The context does not fit the model, even after a compaction in turn ${turn}: ${text}. About ${countContextTokens(state)} tokens remained. Start a new session, or use a model with a larger window.`;
}
