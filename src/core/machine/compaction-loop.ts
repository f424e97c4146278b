import type { Continuation } from "../../schema/definition.ts";
import { closeLoop } from "./close-loop.ts";
import { openLoop } from "./open-loop.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import type { Failure } from "./state/digest.ts";
import type { CompactionReason, State } from "./state/state.ts";

// A loop that asks no model for an answer: it makes the view smaller, and ends (CMP-13). It has no turn.

/** Somebody asks for a smaller context: now, when the session is at rest; else before the next answer. */
export function requestCompaction(state: State, focus: string | undefined): State {
  const isAtRest = state.phase.type === "waiting" && state.pinned?.context !== undefined;
  if (!isAtRest) return setCompactionRequest(state, focus);
  return openCompactionLoop(state, {
    kind: { type: "compaction" },
    ...(focus === undefined ? {} : { focus }),
  });
}

/** Messages that wait stay where they are. */
export function openCompactionLoop(state: State, continuation: Continuation): State {
  return openLoop(setCompactionRequest(state, continuation.focus), [], continuation);
}

function setCompactionRequest(state: State, focus: string | undefined): State {
  return { ...state, compact: focus === undefined ? {} : { focus } };
}

export function isCompactionLoop(state: State): boolean {
  return requireLoop(state).kind.type === "compaction";
}

/** @param compact - Begins it, behind hooks where there are any. */
export function beginCompactionLoop(
  state: State,
  compact: (state: State, reason: CompactionReason) => State,
): State {
  const isManaged = requirePinned(state).context !== undefined;
  if (state.stop !== undefined || !isManaged) return endCompactionLoop(state, undefined);
  return compact(state, { type: "asked", ...state.compact });
}

/** Whether or not there was anything to make smaller. */
export function endCompactionLoop(state: State, failure: Failure | undefined): State {
  if (state.stop !== undefined) return closeLoop(state, { type: "stopped", reason: state.stop.reason });
  if (failure === undefined) return closeLoop(state, { type: "answered", stopReason: "contextCompacted" });
  return closeLoop(state, { type: "failed", fault: failure.fault, message: failure.message });
}
