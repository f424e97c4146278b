import type { Step } from "../step.ts";
import type { AnsweredCell } from "../suites.ts";
import { closeLoop, openLoop } from "./open-loop.ts";
import type { Work } from "./statement.ts";
import { storeStep } from "./step-claims.ts";
import { finishCell, isResultNew } from "./suite-results.ts";

/**
 * Writes the session of a cell with its result, unless the cell has one already: then no session is written, neither by a
 * repeated request after the session was deleted, nor by one that came second.
 */
export function* recordAnsweredCell(answered: AnsweredCell): Work<void> {
  const { opening, write, closing } = answered;
  if (!(yield* isResultNew(answered.cell, answered.result))) {
    yield* finishCell(answered);
    return;
  }
  const { loopId, branch: opened } = yield* openLoop({ ...opening, step: detach(opening.step) });
  const { branch } = yield* storeStep({ ...write, step: detach(write.step), loopId, branch: opened });
  yield* closeLoop({ ...closing, step: detach(closing.step), loopId, branch });
  const { session } = opening.step;
  yield* finishCell({ ...answered, result: { ...answered.result, session, loopId, branch } });
}

/** The ids of these runs mean nothing to Temporal. */
function detach(step: Step): Step {
  return { ...step, hasNoWorkflow: true };
}
