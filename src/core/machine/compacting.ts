import { addCosts, addUsage } from "../budget/usage.ts";
import { viewLength, viewTokens } from "../view/view.ts";
import { contextTokens as tokensOf } from "./compaction-trigger.ts";
import { issue, lostBy, lostWords, MAX_LOST_IN_A_ROW, reissue, settle } from "./issue.ts";
import { emit } from "./outbox.ts";
import { loopOf, type PhaseOf, pinnedOf } from "./phase.ts";
import type { CompactDigest, Failure } from "./state/digest.ts";
import type { Setback } from "./state/run-event.ts";
import type { CompactionReason, State } from "./state/state.ts";

// The view is made smaller by one activity, right before an answer is asked for. The record stays as it is.

/** What the next request will carry: as the vendor has counted it last, and estimates for what came after. */
export function contextTokens({ view, counted }: State): number {
  return tokensOf(viewTokens(view), counted);
}

/** Why the view must be made smaller before the model is asked, or nothing. */
export function compactionDue(state: State): CompactionReason | undefined {
  const { context } = pinnedOf(state);
  if (context === undefined) return undefined;
  if (state.compact !== undefined) return { type: "asked", ...state.compact };
  return contextTokens(state) > context.compactAbove ? { type: "grown" } : undefined;
}

export function startCompaction(state: State, why: CompactionReason): State {
  const { compact: _, ...rest } = state;
  const given = issue(rest);
  return { ...given.state, phase: { type: "compacting", issue: given.issue, why } };
}

/** The smaller view; events only when something has changed. */
export function viewCompacted(state: State, phase: PhaseOf<"compacting">, digest: CompactDigest): State {
  const settled = (digest.fellBack ?? []).reduce<State>(
    (next, fellBack) =>
      emit(next, { type: "ModelFellBack", turn: loopOf(state).turn, for: "compaction", ...fellBack }),
    paid(settle(state, phase.issue, digest.branch), digest),
  );
  const { spans, messagesBefore, messagesAfter, tokensBefore, tokensAfter, loopsCompacted } = digest;
  if (spans === undefined) return settled;
  const position = state.length;
  const started = emit(settled, {
    type: "CompactionStarted",
    estimatedTokens: contextTokens(state),
    messageCount: viewLength(state.view),
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
  const { counted: _, ...rest } = ended;
  return { ...rest, length: position + 1, view: { ...ended.view, spans, liveFrom: position + 1 } };
}

/** What a text has cost counts for the loop's limits. */
function paid(state: State, { usage, costUsd = 0 }: CompactDigest): State {
  if (usage === undefined) return state;
  const loop = loopOf(state);
  return {
    ...state,
    loop: { ...loop, usage: addUsage(loop.usage, usage), costUsd: addCosts(loop.costUsd, costUsd) },
  };
}

/**
 * Given out again after a lost worker, three times.
 *
 * `refused` is certain to have written nothing, so that the model can be asked with the view as it is. Behind `given-up`
 * the compaction may stand in the transcript where the answer would go.
 */
export function compactionSetBack(
  state: State,
  phase: PhaseOf<"compacting">,
  setback: Setback,
): { type: "again"; state: State } | { type: "refused" | "given-up"; failure: Failure } {
  if (setback.type === "failed") return { type: "refused", failure: setback.failure };
  if (setback.type === "cancelled") {
    return { type: "given-up", failure: { fault: "compaction", message: "it was cancelled" } };
  }
  if (lostBy(phase.issue.lost, setback) >= MAX_LOST_IN_A_ROW) {
    const message = `${lostWords(setback, "over it")}; it is not tried again`;
    return { type: "given-up", failure: { fault: "worker-lost", message } };
  }
  return { type: "again", state: { ...state, phase: { ...phase, issue: reissue(phase.issue, setback) } } };
}

/** An error that says what was refused, and what was tried. */
export function overflowMessage(state: State, said: string, wasCompacted: boolean): string {
  const { turn } = loopOf(state);
  if (pinnedOf(state).context === undefined) {
    return `The context does not fit the model: ${said}. The definition switches compaction off (\`context: null\`).`;
  }
  if (!wasCompacted) return `The context does not fit the model: ${said}.`;
  return `The context does not fit the model, also after a compaction in turn ${turn}: ${said}. About ${contextTokens(state)} tokens were left. Begin a new session, or use a model with a larger window.`;
}
