import type { Continuation } from "../../schema/definition.ts";
import { closeLoop } from "./close.ts";
import { openLoop } from "./open.ts";
import { loopOf, pinnedOf } from "./phase.ts";
import type { Failure } from "./state/digest.ts";
import type { CompactionReason, State } from "./state/state.ts";

// A loop that asks no model for an answer: it makes the view smaller, and ends (CMP-13). It has no turn.

/** Somebody asks for a smaller context: now, when the session is at rest; else before the next answer. */
export function compactionAsked(state: State, focus: string | undefined): State {
  const isAtRest = state.phase.type === "waiting" && state.pinned?.context !== undefined;
  if (!isAtRest) return withWish(state, focus);
  return openCompactionLoop(state, {
    kind: { type: "compaction" },
    ...(focus === undefined ? {} : { focus }),
  });
}

/** Messages that wait stay where they are. */
export function openCompactionLoop(state: State, continuation: Continuation): State {
  return openLoop(withWish(state, continuation.focus), [], continuation);
}

function withWish(state: State, focus: string | undefined): State {
  return { ...state, compact: focus === undefined ? {} : { focus } };
}

export function isCompactionLoop(state: State): boolean {
  return loopOf(state).kind.type === "compaction";
}

/** @param compact - Begins it, behind hooks where there are any. */
export function beginCompactionLoop(
  state: State,
  compact: (state: State, why: CompactionReason) => State,
): State {
  const isManaged = pinnedOf(state).context !== undefined;
  if (state.stop !== undefined || !isManaged) return endCompactionLoop(state, undefined);
  return compact(state, { type: "asked", ...state.compact });
}

/** Whether or not there was anything to make smaller. */
export function endCompactionLoop(state: State, failure: Failure | undefined): State {
  if (state.stop !== undefined) return closeLoop(state, { type: "stopped", reason: state.stop.reason });
  if (failure === undefined) return closeLoop(state, { type: "answered", stopReason: "contextCompacted" });
  return closeLoop(state, { type: "failed", fault: failure.fault, message: failure.message });
}
