import { appendMessage } from "./append-message.ts";
import type { OutboxEntry } from "./outbox.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";
import { decideNudge, TOOL_INTENT_NUDGE } from "./tool-intent.ts";

// An answer that announces a tool call and makes none is told so, as often as the loop is pinned to (IRON-10, IRON-11).
// A nudge is given only where the loop would end otherwise: a person's word that waits is read instead of it, and
// leaves the count as it is.

/** Whether an answer that announces a call is followed by a nudge; else it is an answer like any other. */
export function isNudgeDue(state: State): boolean {
  return judgeAnswer(state).nudge;
}

/** Appends the nudge, and counts it. */
export function appendNudge(state: State): State {
  const { nudges } = judgeAnswer(state);
  const appended = appendMessage(state, "machine", { type: "notice", text: TOOL_INTENT_NUDGE }, true);
  return { ...appended, loop: { ...requireLoop(appended), nudges } };
}

/** Whether this is what `nudge` has appended. */
export function isNudge({ body }: OutboxEntry): boolean {
  return body.type === "notice" && body.text === TOOL_INTENT_NUDGE;
}

/** Behind tool calls, and behind a text that announces none. */
export function resetNudges(loop: OpenLoop): OpenLoop {
  const { nudges: _, ...rest } = loop;
  return rest;
}

/** The activity has seen that a call is announced, and that one could have been made. */
function judgeAnswer(state: State) {
  const { nudges: max } = requirePinned(state);
  const config = { enabled: max !== undefined, maxNudges: max ?? 0 };
  return decideNudge(config, { intent: true, mayCall: true, nudges: requireLoop(state).nudges ?? 0 });
}
