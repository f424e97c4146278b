import { continueAfterLoop } from "./close-loop.ts";
import type { State } from "./state/state.ts";
import { beginTurn } from "./turn.ts";
import { endTurn } from "./turn-end.ts";

/**
 * Moves a run through the phases that need nothing from outside, until a command must be given or the run must wait for
 * something.
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
