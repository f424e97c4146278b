import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import { closeLoop } from "./close-loop.ts";
import { openLoop } from "./open-loop.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import type { CompactionReason } from "./state/compaction.ts";
import type { Failure } from "./state/digest.ts";
import type { State } from "./state/state.ts";

// A loop that calls no model for an answer: it makes the view smaller and ends (CMP-13). It has no turn.

/** Requests a smaller context: immediately when the session is idle, otherwise before the next answer. */
export function requestCompaction(state: State, focus: string | undefined): State {
  const isAtRest = state.phase.type === "waiting" && state.pinned?.context !== undefined;
  if (!isAtRest) return setCompactionRequest(state, focus);
  return openCompactionLoop(state, {
    kind: { type: "compaction" },
    ...omitUndefined({ focus }),
  });
}

/** Opens the loop. Queued messages stay where they are. */
export function openCompactionLoop(state: State, continuation: Continuation): State {
  return openLoop(setCompactionRequest(state, continuation.focus), [], continuation);
}

function setCompactionRequest(state: State, focus: string | undefined): State {
  return { ...state, requestedCompaction: omitUndefined({ focus }) };
}

export function isCompactionLoop(state: State): boolean {
  return requireLoop(state).kind.type === "compaction";
}

/** @param compact - Begins the compaction, after hooks if there are any. */
export function beginCompactionLoop(
  state: State,
  compact: (state: State, reason: CompactionReason) => State,
): State {
  const isManaged = requirePinned(state).context !== undefined;
  if (state.stop !== undefined || !isManaged) return endCompactionLoop(state, undefined);
  return compact(state, { type: "request", ...state.requestedCompaction });
}

/** Ends the loop, whether or not anything was made smaller. */
export function endCompactionLoop(state: State, failure: Failure | undefined): State {
  if (state.stop !== undefined) return closeLoop(state, { type: "stopped", reason: state.stop.reason });
  if (failure === undefined) return closeLoop(state, { type: "answered", stopReason: "contextCompacted" });
  return closeLoop(state, { type: "failed", fault: failure.fault, message: failure.message });
}
