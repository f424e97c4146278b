import { truncateForPreview } from "./preview.ts";
import type { State } from "./state.ts";

// A model that writes the same wrong call again and again is told so in the call's result, and the run goes on: what
// it does about it is the model's business, and the limits' when it does nothing.

/** Calls of one tool, or of one name that is no tool's, that could not be run and had no good one between them. */
export type Mistakes = { readonly tool: string; readonly inARow: number };

/** From this one on, a result says how many there were. */
export const TOLD_FROM = 3;

/** Names that are counted at a time; the one that was wrong the longest ago gives way. */
export const MAX_COUNTED = 8;

/** Of a name in the state: as long as a tool's name may be. */
const MAX_NAME_BYTES = 64;

/**
 * Counts a call that is about to run or to be refused.
 *
 * @param refusal - Why the call cannot be run as it was written; it comes back with the count where there is one to tell.
 */
export function countMistake(
  state: State,
  toolName: string,
  refusal: string | undefined,
): { readonly state: State; readonly refusal: string | undefined } {
  const { loop } = state;
  if (loop === undefined) return { state, refusal };
  const tool = truncateForPreview(toolName, MAX_NAME_BYTES);
  const counted = loop.mistakes ?? [];
  const before = counted.find((one) => one.tool === tool)?.inARow ?? 0;
  if (refusal === undefined && before === 0) return { state, refusal };

  const others = counted.filter((one) => one.tool !== tool);
  const inARow = before + 1;
  const mistakes = refusal === undefined ? others : [...others, { tool, inARow }].slice(-MAX_COUNTED);
  return {
    state: { ...state, loop: { ...loop, mistakes } },
    refusal: refusal === undefined || inARow < TOLD_FROM ? refusal : `${refusal}\n${countText(tool, inARow)}`,
  };
}

function countText(tool: string, inARow: number): string {
  const which = inARow === TOLD_FROM ? "the third call" : `call number ${inARow}`;
  return `This is ${which} of ${tool} in a row that cannot be run: do not repeat it. Change what is named above, or go on without ${tool}.`;
}
