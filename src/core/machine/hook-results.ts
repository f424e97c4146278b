import { assertNever } from "../../platform/text/assert-never.ts";
import { applyBeforeToolDecisions, completeAfterToolHooks } from "./call-batches.ts";
import { closeLoop } from "./close-loop.ts";
import { startCompaction } from "./compact-view.ts";
import {
  completeDispatch,
  countLostWorkers,
  formatWorkerLoss,
  MAX_LOST_IN_A_ROW,
  redispatch,
} from "./dispatch.ts";
import { type PhaseOf, requireLoop } from "./phase.ts";
import { toHookOutcome } from "./run-hooks.ts";
import type { HookDigest, HookResult } from "./state/digest.ts";
import type { HookQuestion } from "./state/hook-question.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { State } from "./state/state.ts";
import { startTurn } from "./turn.ts";
import { applyCompactionDenial, continueAfterCompaction, skipCompaction } from "./turn-compaction.ts";
import { continueAfterTurn, finishTurn, startNextTurn } from "./turn-end.ts";

// How a run continues after a hook's answer. A stop that arrived in the meantime takes precedence.
//
//   before-turn        TurnStart, messages, [compaction], the model, with or without calls | the loop ends
//   before-compaction  compaction | the model with the context as it is | the error of an overflow
//   after-compaction   the model
//   before-tool        the unit begins, without the calls that were denied
//   after-tool         the messages of the results, then the next unit
//   on-error           TurnEnd
//   after-turn         another turn | on-text | the loop ends
//   on-text            the loop ends | another turn
//   after-task         the run ends

/** What the model reads when a hook continues the loop without a text: vendors require a message after an answer. */
export const CONTINUE_TEXT = "Your answer was not accepted as the end of the task. Continue.";

const ALLOWED: HookResult = { type: "yes" };

export function applyHookResults(state: State, phase: PhaseOf<"running-hooks">, digest: HookDigest): State {
  return continueAfterHooks(
    completeDispatch(state, phase.dispatch, digest.branch),
    phase.question,
    digest.results,
  );
}

/**
 * Dispatches the hooks again after a lost worker, up to three times. A hook that could not be called at all denies what is
 * about to happen, and has no effect after something has happened: a missing hook must never let a run continue.
 */
export function handleHookFailure(
  state: State,
  phase: PhaseOf<"running-hooks">,
  failure: StepFailure,
): State {
  const { question, dispatch: pending } = phase;
  // A question from before a stop is not asked again; a notification after a stop is.
  if (state.stop !== undefined && phase.isBrief !== true) return continueAfterHooks(state, question, []);
  const isLost = failure.type === "lost" || failure.type === "not-local";
  if (isLost && countLostWorkers(pending.lostWorkers, failure) < MAX_LOST_IN_A_ROW) {
    return { ...state, phase: { ...phase, dispatch: redispatch(pending, failure) } };
  }
  return continueAfterHooks(
    state,
    question,
    [{ type: "no", hook: question.point, reason: describeFailure(failure) }],
    true,
  );
}

function describeFailure(failure: StepFailure): string {
  switch (failure.type) {
    case "failed":
      return `it could not be called: ${failure.failure.message}`;
    case "cancelled":
      return "it was cancelled";
    case "lost":
    case "not-local":
      return `${formatWorkerLoss(failure, "during the hook")}; the hook is not called again`;
  }
}

/** @param unasked - The only result, which applies to everything that the hooks were asked about. */
function continueAfterHooks(
  state: State,
  question: HookQuestion,
  results: readonly HookResult[],
  unasked = false,
): State {
  const [word = ALLOWED] = results;
  switch (question.point) {
    case "before-turn": {
      if (state.stop !== undefined) return startNextTurn(state, undefined);
      if (word.type === "no" || word.type === "end") return closeLoop(state, toHookOutcome(word));
      if (word.type !== "yes") return startTurn(state, question.source);
      const noted = addNotices(state, word.notices ?? []);
      return startTurn(word.textOnly === true ? requireText(noted) : noted, question.source);
    }
    case "before-compaction":
      if (state.stop !== undefined) return skipCompaction(state, state.stop.reason);
      return word.type === "no"
        ? applyCompactionDenial(state, question.reason, word)
        : startCompaction(state, question.reason);
    case "after-compaction":
      if (state.stop !== undefined) return skipCompaction(state, state.stop.reason);
      return continueAfterCompaction(unasked ? state : endLoopByHook(state, word), question.isOverflow);
    case "before-tool": {
      const refusals = new Map(
        question.calls.flatMap((call, index) => {
          const result = unasked ? word : results[index];
          return result?.type === "no" ? [[call, result] as const] : [];
        }),
      );
      return applyBeforeToolDecisions(state, question.phase, refusals);
    }
    case "after-tool": {
      const notified = unasked ? state : results.reduce(endLoopByHook, state);
      return completeAfterToolHooks(notified, question.phase, question.calls);
    }
    case "on-error":
      return finishTurn(unasked ? state : endLoopByHook(state, word), question.ending);
    case "after-turn":
      return continueAfterTurn(unasked ? state : endLoopByHook(state, word), question.after);
    case "on-text": {
      if (word.type !== "continue" || state.stop !== undefined)
        return startNextTurn(state, undefined, "asked");
      return startNextTurn(addNotices(state, [word.text ?? CONTINUE_TEXT]), "on-text");
    }
    case "after-task":
      return { ...state, isTaskEnded: true, phase: { type: "loop-ended" } };
    default:
      return assertNever(question);
  }
}

/** The turn that begins must be answered with text. */
function requireText(state: State): State {
  const loop = requireLoop(state);
  return { ...state, loop: { ...loop, textOnlyTurn: loop.turn } };
}

/** Stores notices of hooks until the turn begins that they are for. */
function addNotices(state: State, notices: readonly string[]): State {
  if (notices.length === 0) return state;
  const loop = requireLoop(state);
  return { ...state, loop: { ...loop, notices: [...(loop.notices ?? []), ...notices] } };
}

/** Ends the loop after the turn, because a hook failed after an event and its failure is to stop the agent. */
function endLoopByHook(state: State, word: HookResult): State {
  const loop = requireLoop(state);
  if (word.type !== "no" || loop.endedByHook !== undefined) return state;
  return { ...state, loop: { ...loop, endedByHook: { by: word.hook, reason: word.reason } } };
}
