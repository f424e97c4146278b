import { append } from "./append.ts";
import type { OutboxEntry } from "./outbox.ts";
import { loopOf, pinnedOf } from "./phase.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";
import { judgeText, TOOL_INTENT_NUDGE } from "./tool-intent.ts";

// An answer that announces a tool call and makes none is told so, as often as the loop is pinned to (IRON-10, IRON-11).
// A nudge is given only where the loop would end otherwise: a person's word that waits is read instead of it, and
// leaves the count as it is.

/** Whether an answer that announces a call is followed by a nudge; else it is an answer like any other. */
export function isNudgeDue(state: State): boolean {
  return judged(state).nudge;
}

/** Appends the nudge, and counts it. */
export function nudge(state: State): State {
  const { nudges } = judged(state);
  const told = append(state, "machine", { type: "notice", text: TOOL_INTENT_NUDGE }, true);
  return { ...told, loop: { ...loopOf(told), nudges } };
}

/** Whether this is what `nudge` has appended. */
export function isNudge({ body }: OutboxEntry): boolean {
  return body.type === "notice" && body.text === TOOL_INTENT_NUDGE;
}

/** Behind tool calls, and behind a text that announces none. */
export function countedAnew(loop: OpenLoop): OpenLoop {
  const { nudges: _, ...rest } = loop;
  return rest;
}

/** The activity has seen that a call is announced, and that one could have been made. */
function judged(state: State) {
  const { nudges: max } = pinnedOf(state);
  const config = { enabled: max !== undefined, maxNudges: max ?? 0 };
  return judgeText(config, { intent: true, mayCall: true, nudges: loopOf(state).nudges ?? 0 });
}
