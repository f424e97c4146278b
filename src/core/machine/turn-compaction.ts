import { askModel } from "./ask-model.ts";
import { applyCompaction, formatOverflow, handleCompactionFailure, startCompaction } from "./compact-view.ts";
import { endCompactionLoop, isCompactionLoop } from "./compaction-loop.ts";
import { type PhaseOf, requirePinned } from "./phase.ts";
import { askHooks, hasHook } from "./run-hooks.ts";
import type { CompactionReason } from "./state/compaction.ts";
import type { CompactDigest, Failure } from "./state/digest.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { State } from "./state/state.ts";
import { abortTurn, endWithoutAnswer } from "./turn-end.ts";

// The compaction of a turn: before its request, or after the vendor has rejected it as too large.

export function startTurnCompaction(state: State, reason: CompactionReason): State {
  return hasHook(state, "before-compaction")
    ? askHooks(state, { point: "before-compaction", reason })
    : startCompaction(state, reason);
}

/** Requests the answer for which the view was made smaller; a compaction loop has none (CMP-13). */
export function continueAfterCompaction(state: State, overflow = false): State {
  return isCompactionLoop(state) ? endCompactionLoop(state, undefined) : askModel(state, overflow);
}

/** Skips the compaction after a stop. */
export function skipCompaction(state: State, reason: string): State {
  return isCompactionLoop(state) ? endCompactionLoop(state, undefined) : abortTurn(state, reason);
}

/** Skips this compaction. A context that the vendor has rejected is not sent again unchanged (CB-05). */
export function applyCompactionDenial(
  state: State,
  compactionReason: CompactionReason,
  { hook, reason }: { readonly hook: string; readonly reason: string },
): State {
  if (compactionReason.type !== "overflow") {
    const { requestedCompaction: _, ...rest } = state;
    return continueAfterCompaction(rest);
  }
  const message = `${formatOverflow(state, compactionReason.said, false)} A compaction was denied by hook "${hook}": ${reason}`;
  return endWithoutAnswer(state, "error", message, { type: "failed", fault: "overflow", message });
}

export function finishCompaction(state: State, phase: PhaseOf<"compacting">, digest: CompactDigest): State {
  const smaller = applyCompaction(state, phase, digest);
  if (state.stop !== undefined) return skipCompaction(smaller, state.stop.reason);
  const overflow = phase.reason.type === "overflow";
  if (overflow && digest.spans === undefined) {
    const message = "nothing more can be removed from it";
    return endUncompacted(smaller, phase.reason, { fault: "overflow", message });
  }
  if (digest.spans === undefined || !hasHook(smaller, "after-compaction"))
    return continueAfterCompaction(smaller, overflow);
  const { messagesBefore, messagesAfter, tokensBefore, tokensAfter } = digest;
  const counts = { messagesBefore, messagesAfter, tokensBefore, tokensAfter };
  return askHooks(smaller, { point: "after-compaction", counts, isOverflow: overflow });
}

/** Sends a context that only grew unchanged; a context that the vendor has rejected is not sent. */
export function handleCompactionStepFailure(
  state: State,
  phase: PhaseOf<"compacting">,
  failure: StepFailure,
): State {
  if (state.stop !== undefined) {
    return skipCompaction(state, state.stop.reason);
  }
  const next = handleCompactionFailure(state, phase, failure);
  if (next.type === "again") return next.state;
  if (isCompactionLoop(state)) return endCompactionLoop(state, next.failure);
  if (next.type === "rejected" && phase.reason.type !== "overflow") return askModel(state);
  const { fault, message } = next.failure;
  return endUncompacted(state, phase.reason, { fault, message });
}

function endUncompacted(state: State, reason: CompactionReason, { fault, message }: Failure): State {
  const before = reason.type === "overflow" ? `${formatOverflow(state, reason.said, false)} ` : "";
  const text = `${before}The context could not be made smaller: ${message}`;
  return endWithoutAnswer(state, "error", text, { type: "failed", fault, message: text });
}

/**
 * Handles the vendor's report that the context does not fit: it is made smaller and sent again once (OVF-05, X-09). A
 * rejected context is never sent again unchanged.
 */
export function handleOverflow(state: State, phase: PhaseOf<"calling-model">, text: string): State {
  if (requirePinned(state).context !== undefined && phase.isCompacted !== true) {
    return startTurnCompaction(state, { type: "overflow", said: text });
  }
  const message = formatOverflow(state, text, phase.isCompacted === true);
  return endWithoutAnswer(state, "error", message, { type: "failed", fault: "overflow", message });
}
