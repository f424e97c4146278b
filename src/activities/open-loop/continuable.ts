import { materialise } from "../../conversation/materialise.ts";
import type { ViewRanges } from "../../core/view/view-ranges.ts";
import type { Entry } from "../../schema/record.ts";
import { DefinitionError } from "../step/failure.ts";

/**
 * LOOP-04: there is a conversation, and it does not end with an answer; failed ones do not count.
 *
 * @param entries - Of the branch, up to where it goes on; absent without a session.
 * @param mayEndWithAnswer - Words come behind it, or no answer is asked for.
 */
export function assertContinuable(
  session: string,
  entries: readonly Entry[] | undefined,
  mayEndWithAnswer: boolean,
): void {
  if (entries === undefined) throw new DefinitionError(`There is no session ${session} to continue`);
  const all: ViewRanges = { branch: "", ranges: [{ from: 0, to: entries.length }] };
  const last = materialise(all, entries).at(-1);
  if (last === undefined) throw new DefinitionError(`Session ${session} holds no messages to continue from`);
  if (last.role === "assistant" && !mayEndWithAnswer) {
    throw new DefinitionError(
      `Session ${session} ends with an answer: there is nothing to continue; send a prompt instead`,
    );
  }
}
