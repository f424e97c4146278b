import { continueAfterLoop } from "./close-loop.ts";
import type { State } from "./state/state.ts";
import { beginTurn } from "./turn.ts";
import { endTurn } from "./turn-end.ts";

/**
 * Moves a run through the phases that need nothing from outside, until a command must be given or the run must wait for
 * something.
 *
 *   turn-pending  -> running-hooks | filtering | calling-model, compacting | closing (stop, limit) | recording, rotating
 *   turn-ended -> running-hooks | turn-pending (calls, steering, follow-ups, nudge, repair) | closing
 *   loop-ended -> opening (interactive, with messages) | recording (inbox) | running-hooks | waiting | rotating | ended
 */
export function advance(state: State): State {
  let now = state;
  for (;;) {
    const { phase } = now;
    switch (phase.type) {
      case "turn-pending":
        now = beginTurn(now, phase.source);
        break;
      case "turn-ended":
        now = endTurn(now, phase);
        break;
      case "loop-ended":
        now = continueAfterLoop(now);
        break;
      default:
        return now;
    }
  }
}
