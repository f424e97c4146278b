import { appendMessage } from "./append-message.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { OutboxEntry } from "./state/outbox.ts";
import type { State } from "./state/state.ts";
import { decideNudge, TOOL_INTENT_NUDGE } from "./tool-intent.ts";

// An answer that announces a tool call and makes none gets a nudge, up to the pinned number of times (IRON-10, IRON-11).
// A nudge is given only where the loop would end otherwise: a waiting user message is read instead, and leaves the count
// unchanged.

/** Reports whether a nudge follows an answer that announces a call; otherwise it is an answer like any other. */
export function isNudgeDue(state: State): boolean {
  return judgeAnswer(state).nudge;
}

/** Appends the nudge and counts it. */
export function appendNudge(state: State): State {
  const { nudges } = judgeAnswer(state);
  const appended = appendMessage(state, "machine", { type: "notice", text: TOOL_INTENT_NUDGE }, true);
  return { ...appended, loop: { ...requireLoop(appended), nudges } };
}

/** Reports whether `appendNudge` has appended this entry. */
export function isNudge({ body }: OutboxEntry): boolean {
  return body.type === "notice" && body.text === TOOL_INTENT_NUDGE;
}

/** Resets the count, after tool calls and after a text that announces none. */
export function resetNudges(loop: OpenLoop): OpenLoop {
  const { nudges: _, ...rest } = loop;
  return rest;
}

/** The activity has found that the answer announces a call that could have been made. */
function judgeAnswer(state: State) {
  const { nudges: max } = requirePinned(state);
  const config = { enabled: max !== undefined, maxNudges: max ?? 0 };
  return decideNudge(config, { intent: true, mayCall: true, nudges: requireLoop(state).nudges ?? 0 });
}
