import { materialise } from "../../conversation/materialise.ts";
import type { ViewRanges } from "../../core/view/view-ranges.ts";
import type { Entry } from "../../schema/record.ts";
import { DefinitionError } from "../step/failure.ts";

/**
 * Throws unless there is a conversation that does not end with an answer (LOOP-04); failed answers do not count
 * (X-09).
 *
 * @param entries - The entries of the branch up to the position to continue from; absent without a session.
 * @param mayEndWithAnswer - Messages follow, or no answer is requested.
 */
export function assertContinuable(
  session: string,
  entries: readonly Entry[] | undefined,
  mayEndWithAnswer: boolean,
): void {
  if (entries === undefined) throw new DefinitionError(`There is no session ${session} to continue`);
  const all: ViewRanges = { branch: "", ranges: [{ from: 0, to: entries.length }] };
  const last = materialise(all, entries).at(-1);
  if (last === undefined) throw new DefinitionError(`Session ${session} has no messages to continue from`);
  if (last.role === "assistant" && !mayEndWithAnswer) {
    throw new DefinitionError(
      `Session ${session} ends with an answer: there is nothing to continue; send a prompt instead`,
    );
  }
}
