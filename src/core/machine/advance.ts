import { continueAfterLoop } from "./close-loop.ts";
import type { State } from "./state/state.ts";
import { beginTurn } from "./turn.ts";
import { endTurn } from "./turn-end.ts";

/**
 * Leads a run on through the places that need nothing from outside, to one where a command is to be given or
 * something is waited for.
 *
 *   turn-due  -> hooking | filtering | calling-model, compacting | closing (stop, limit) | recording, rotating
 *   turn-over -> hooking | turn-due (calls, steering, follow-ups, nudge, repair) | closing
 *   loop-over -> opening (interactive, with messages) | recording (inbox) | hooking | waiting | rotating | ended
 */
export function advance(state: State): State {
  let now = state;
  for (;;) {
    const { phase } = now;
    switch (phase.type) {
      case "turn-due":
        now = beginTurn(now, phase.source);
        break;
      case "turn-over":
        now = endTurn(now, phase);
        break;
      case "loop-over":
        now = continueAfterLoop(now);
        break;
      default:
        return now;
    }
  }
}
