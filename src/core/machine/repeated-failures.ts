import { truncateForPreview } from "../../platform/text/preview.ts";
import type { RepeatSettings } from "../../schema/definition.ts";
import { requireLoop } from "./phase.ts";
import type { State } from "./state/state.ts";

// A model that writes the same wrong call again and again is told so in the call's result. One that does not listen is
// told plainly, and then its loop ends, or a person decides (`repeatedFailures` of the definition).
//
// A call fails in the same way when the same tool is refused for the same reason. It counts once for each answer, since
// the model has not read the result of a call that stands in the same answer, and only while no more than three turns lie
// between two of them. What a tool itself reports when it has run is not counted: a test that fails eight times may be on
// its way to pass.

/** Calls of one tool, or of one name that is no tool's, that could not be run and had no good one between them. */
export type RepeatedFailures = {
  readonly tool: string;
  readonly inARow: number;
  /** The newest failure of this tool, and in how many answers it came in the same way. */
  readonly same?: { readonly why: string; readonly answers: number; readonly turn: number };
};

/** Why a call is answered without being run. `written`: because of how it is written, not because of a rule. */
export type CallFailure = { readonly text: string; readonly why: string; readonly written: boolean };

export type CountedFailure = {
  readonly state: State;
  /** What the model reads. */
  readonly text: string;
  /** The failure has come as often as the definition allows: its loop ends, or a person is asked. */
  readonly limit?: { readonly action: RepeatSettings["action"]; readonly reason: string };
};

/** From this one on, a result says how many there were. */
const MIN_REPORTED_COUNT = 3;

/** Names that are counted at a time; the one that was wrong the longest ago gives way. */
export const MAX_COUNTED = 8;

/** Turns after which the same failure counts as a new one. */
const RESET_AFTER_TURNS = 3;

/** Of a name in the state: as long as a tool's name may be. */
const MAX_NAME_BYTES = 64;
/** Of a reason in the state: enough to tell two of one tool apart. */
const MAX_REASON_BYTES = 160;

/** A call of this tool is about to run, as it is written: its count begins anew. */
export function resetFailureCount(state: State, toolName: string): State {
  const { loop } = state;
  const tool = truncateForPreview(toolName, MAX_NAME_BYTES);
  if (loop?.mistakes?.some((one) => one.tool === tool) !== true) return state;
  return { ...state, loop: { ...loop, mistakes: loop.mistakes.filter((one) => one.tool !== tool) } };
}

/** Counts a call that is refused, and says what the model is told. */
export function countFailure(state: State, toolName: string, failure: CallFailure): CountedFailure {
  const { loop } = state;
  if (loop === undefined) return { state, text: failure.text };
  const tool = truncateForPreview(toolName, MAX_NAME_BYTES);
  const counted = loop.mistakes ?? [];
  const before = counted.find((one) => one.tool === tool);
  const inARow = (before?.inARow ?? 0) + (failure.written ? 1 : 0);
  const same = countRepeat(before?.same, failure.why, loop.turn);
  const others = counted.filter((one) => one.tool !== tool);
  const mistakes = [...others, { tool, inARow, same }].slice(-MAX_COUNTED);
  const settings = state.pinned?.repeats;
  const warning = formatRepeat(tool, failure, inARow, same.answers, settings);
  return {
    state: { ...state, loop: { ...loop, mistakes } },
    text: warning === undefined ? failure.text : `${failure.text}\n${warning}`,
    ...findRepeatLimit(tool, failure, same.answers, settings),
  };
}

/** Somebody has had a word, or has let the loop go on: what came before does not count any more. */
export function resetRepeats(state: State): State {
  const { loop } = state;
  if (loop === undefined || (loop.stuck === undefined && loop.mistakes === undefined)) return state;
  const { stuck: _, ...rest } = loop;
  const mistakes = loop.mistakes?.map(({ tool, inARow }) => ({ tool, inARow }));
  return { ...state, loop: { ...rest, ...(mistakes === undefined ? {} : { mistakes }) } };
}

/** The loop ends before its next turn. The first reason counts. */
export function markStuck(state: State, reason: string): State {
  const loop = requireLoop(state);
  return loop.stuck === undefined ? { ...state, loop: { ...loop, stuck: reason } } : state;
}

function countRepeat(
  before: RepeatedFailures["same"],
  reason: string,
  turn: number,
): NonNullable<RepeatedFailures["same"]> {
  const shortReason = truncateForPreview(reason, MAX_REASON_BYTES);
  const goesOn = before?.why === shortReason && turn - before.turn <= RESET_AFTER_TURNS;
  if (before === undefined || !goesOn) return { why: shortReason, answers: 1, turn };
  return { why: shortReason, answers: before.answers + (turn === before.turn ? 0 : 1), turn };
}

function formatRepeat(
  tool: string,
  { written }: CallFailure,
  inARow: number,
  answers: number,
  settings: RepeatSettings | undefined,
): string | undefined {
  if (settings !== undefined && answers >= settings.tellAfter) return formatWarning(tool, answers, settings);
  return written && inARow >= MIN_REPORTED_COUNT ? formatCount(tool, inARow) : undefined;
}

function formatCount(tool: string, inARow: number): string {
  const which = inARow === MIN_REPORTED_COUNT ? "the third call" : `call number ${inARow}`;
  return `This is ${which} of ${tool} in a row that cannot be run: do not repeat it. Change what is named above, or go on without ${tool}.`;
}

function formatWarning(tool: string, answers: number, { endAfter, action }: RepeatSettings): string {
  const left = endAfter === null ? undefined : Math.max(0, endAfter - answers);
  const end =
    left === undefined || left === 0
      ? ""
      : ` If it fails in the same way ${left === 1 ? "once" : `${left} times`} more, ${action === "ask" ? "a person is asked whether you may go on" : "your work ends here"}.`;
  return (
    `This call of ${tool} has failed in the same way in ${answers} of your answers, and it will fail again. ` +
    `Do not make it again. Do something else, or say what you cannot do and why.${end}`
  );
}

function findRepeatLimit(
  tool: string,
  { why: failureReason }: CallFailure,
  answers: number,
  settings: RepeatSettings | undefined,
): Pick<CountedFailure, "limit"> {
  if (settings === undefined || settings.endAfter === null || answers < settings.endAfter) return {};
  const reason = `Call of ${tool} failed in the same way ${answers} times (${answers}/${settings.endAfter}): ${truncateForPreview(failureReason, MAX_REASON_BYTES)}`;
  return { limit: { action: settings.action, reason } };
}
