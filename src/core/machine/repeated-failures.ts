import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { RepeatSettings } from "../../schema/recovery.ts";
import { requireLoop } from "./phase.ts";
import type { RepeatedFailures } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

// A model that repeats the same invalid call is informed in the call's result. If it continues, it gets an explicit
// warning, and then its loop ends or the user decides (`repeatedFailures` of the definition).
//
// A call fails in the same way when the same tool fails for the same reason. It counts once for each answer, because the
// model has not read the results of other calls of the same answer, and only while at most three turns lie between two of
// them. Errors that a tool itself reports after it has run do not count: a test that fails eight times may be close to
// passing.

/** Why a call is answered without being run. `isMalformed`: because of how it is written, not because of a rule. */
export type CallFailure = { readonly text: string; readonly reason: string; readonly isMalformed: boolean };

export type CountedFailure = {
  readonly state: State;
  /** What the model reads. */
  readonly text: string;
  /** The failure has happened as often as the definition allows: the loop ends, or the user is asked. */
  readonly limit?: { readonly action: RepeatSettings["action"]; readonly reason: string };
};

/** From this count on, a result states the number of failures. */
const MIN_REPORTED_COUNT = 3;

/** The maximum number of names that are counted; the name that failed the longest ago is dropped first. */
export const MAX_COUNTED = 8;

/** The number of turns after which the same failure counts as a new one. */
const RESET_AFTER_TURNS = 3;

/** The size of a name in the state: the maximum length of a tool's name. */
const MAX_NAME_BYTES = 64;
/** The size of a reason in the state: enough to distinguish two reasons of one tool. */
const MAX_REASON_BYTES = 160;

/** Resets the count of this tool: a valid call of it is about to run. */
export function resetFailureCount(state: State, toolName: string): State {
  const { loop } = state;
  const tool = truncateForPreview(toolName, MAX_NAME_BYTES);
  if (loop?.repeatedFailures?.some((one) => one.tool === tool) !== true) return state;
  return {
    ...state,
    loop: { ...loop, repeatedFailures: loop.repeatedFailures.filter((one) => one.tool !== tool) },
  };
}

/** Counts a call that could not be run, and returns what the model reads. */
export function countFailure(state: State, toolName: string, failure: CallFailure): CountedFailure {
  const { loop } = state;
  if (loop === undefined) return { state, text: failure.text };
  const tool = truncateForPreview(toolName, MAX_NAME_BYTES);
  const counted = loop.repeatedFailures ?? [];
  const before = counted.find((one) => one.tool === tool);
  const inARow = (before?.inARow ?? 0) + (failure.isMalformed ? 1 : 0);
  const same = countRepeat(before?.same, failure.reason, loop.turn);
  const others = counted.filter((one) => one.tool !== tool);
  const mistakes = [...others, { tool, inARow, same }].slice(-MAX_COUNTED);
  const settings = state.pinned?.repeatedFailures;
  const warning = formatRepeat(tool, failure, inARow, same.answers, settings);
  return {
    state: { ...state, loop: { ...loop, repeatedFailures: mistakes } },
    text: warning === undefined ? failure.text : `${failure.text}\n${warning}`,
    ...findRepeatLimit(tool, failure, same.answers, settings),
  };
}

/** Resets the counts, because the user has sent a message or has let the loop continue. */
export function resetRepeats(state: State): State {
  const { loop } = state;
  if (loop === undefined || (loop.stuckReason === undefined && loop.repeatedFailures === undefined))
    return state;
  const { stuckReason: _, ...rest } = loop;
  const mistakes = loop.repeatedFailures?.map(({ tool, inARow }) => ({ tool, inARow }));
  return { ...state, loop: { ...rest, ...omitUndefined({ repeatedFailures: mistakes }) } };
}

/** Marks the loop to end before its next turn. The first reason counts. */
export function markStuck(state: State, reason: string): State {
  const loop = requireLoop(state);
  return loop.stuckReason === undefined ? { ...state, loop: { ...loop, stuckReason: reason } } : state;
}

function countRepeat(
  before: RepeatedFailures["same"],
  reason: string,
  turn: number,
): NonNullable<RepeatedFailures["same"]> {
  const shortReason = truncateForPreview(reason, MAX_REASON_BYTES);
  const goesOn = before?.reason === shortReason && turn - before.turn <= RESET_AFTER_TURNS;
  if (before === undefined || !goesOn) return { reason: shortReason, answers: 1, turn };
  return { reason: shortReason, answers: before.answers + (turn === before.turn ? 0 : 1), turn };
}

function formatRepeat(
  tool: string,
  { isMalformed }: CallFailure,
  inARow: number,
  answers: number,
  settings: RepeatSettings | undefined,
): string | undefined {
  if (settings !== undefined && answers >= settings.warnAfter) return formatWarning(tool, answers, settings);
  return isMalformed && inARow >= MIN_REPORTED_COUNT ? formatCount(tool, inARow) : undefined;
}

function formatCount(tool: string, inARow: number): string {
  const which = inARow === MIN_REPORTED_COUNT ? "the third call" : `call number ${inARow}`;
  return `This is ${which} of ${tool} in a row that cannot be run: do not repeat it. Correct the problem described above, or continue without ${tool}.`;
}

function formatWarning(tool: string, answers: number, { endAfter, action }: RepeatSettings): string {
  const left = endAfter === null ? undefined : Math.max(0, endAfter - answers);
  const end =
    left === undefined || left === 0
      ? ""
      : ` If it fails in the same way ${left === 1 ? "once" : `${left} times`} more, ${action === "ask" ? "the user is asked whether you may continue" : "your work ends here"}.`;
  return (
    `This call of ${tool} has failed in the same way in ${answers} of your answers, and it will fail again. ` +
    `Do not repeat it. Do something else, or say what you cannot do and why.${end}`
  );
}

function findRepeatLimit(
  tool: string,
  { reason: failureReason }: CallFailure,
  answers: number,
  settings: RepeatSettings | undefined,
): Pick<CountedFailure, "limit"> {
  if (settings === undefined || settings.endAfter === null || answers < settings.endAfter) return {};
  const reason = `Call of ${tool} failed in the same way ${answers} times (${answers}/${settings.endAfter}): ${truncateForPreview(failureReason, MAX_REASON_BYTES)}`;
  return { limit: { action: settings.action, reason } };
}
