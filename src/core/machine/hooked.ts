import { assertNever } from "../../platform/text/assert-never.ts";
import { toolsJudged, toolsTold } from "./calls.ts";
import { closeLoop } from "./close.ts";
import { startCompaction } from "./compacting.ts";
import { endedBy } from "./hooking.ts";
import { lostBy, lostWords, MAX_LOST_IN_A_ROW, reissue, settle } from "./issue.ts";
import { loopOf, type PhaseOf } from "./phase.ts";
import type { HookDigest, HookWord } from "./state/digest.ts";
import type { HookQuestion } from "./state/hook-question.ts";
import type { Setback } from "./state/run-event.ts";
import type { State } from "./state/state.ts";
import { behindCompaction, compactionRefused, notCompacted, startTurn } from "./turn.ts";
import { behindTurn, goOn, turnEnded } from "./turn-end.ts";

// What goes on behind a hook's answer. A stop that came meanwhile goes before it.
//
//   before-turn        TurnStart, words, [compaction], the model | the loop ends
//   before-compaction  compaction | the model with the context as it is | the error of an overflow
//   after-compaction   the model
//   before-tool        the unit begins, without the calls that were refused
//   after-tool         the messages of the results, then the next unit
//   on-error           TurnEnd
//   after-turn         another turn | on-text | the loop ends
//   on-text            the loop ends | another turn
//   after-task         the run ends

/** What the model is told when a hook lets it go on and says nothing: vendors want a word behind an answer. */
export const GO_ON_TEXT = "Your answer was not taken as the end of the task. Go on.";

const YES: HookWord = { type: "yes" };

export function hookAnswered(state: State, phase: PhaseOf<"hooking">, digest: HookDigest): State {
  return behind(settle(state, phase.issue, digest.branch), phase.question, digest.words);
}

/**
 * Asked again after a lost worker, three times. What could not be asked at all is a no before something happens and
 * nothing behind it: nobody may go on because a hook was not there.
 */
export function hookSetBack(state: State, phase: PhaseOf<"hooking">, setback: Setback): State {
  const { question, issue } = phase;
  // What was asked before a stop is not asked again; what is told behind one is.
  if (state.stop !== undefined && phase.brief !== true) return behind(state, question, []);
  const isLost = setback.type === "lost" || setback.type === "elsewhere";
  if (isLost && lostBy(issue.lost, setback) < MAX_LOST_IN_A_ROW) {
    return { ...state, phase: { ...phase, issue: reissue(issue, setback) } };
  }
  return behind(state, question, [{ type: "no", hook: question.point, reason: whyNot(setback) }], true);
}

function whyNot(setback: Setback): string {
  switch (setback.type) {
    case "failed":
      return `it could not be asked: ${setback.failure.message}`;
    case "cancelled":
      return "it was cancelled";
    case "lost":
    case "elsewhere":
      return `${lostWords(setback, "over it")}; it is not asked again`;
  }
}

/** @param unasked - The one word that there is speaks of all that was asked about. */
function behind(state: State, question: HookQuestion, words: readonly HookWord[], unasked = false): State {
  const [word = YES] = words;
  switch (question.point) {
    case "before-turn": {
      if (state.stop !== undefined) return goOn(state, undefined);
      if (word.type === "no" || word.type === "end") return closeLoop(state, endedBy(word));
      const notices = word.type === "yes" ? (word.notices ?? []) : [];
      return startTurn(withNotices(state, notices), question.source);
    }
    case "before-compaction":
      if (state.stop !== undefined) return notCompacted(state, state.stop.reason);
      return word.type === "no"
        ? compactionRefused(state, question.why, word)
        : startCompaction(state, question.why);
    case "after-compaction":
      if (state.stop !== undefined) return notCompacted(state, state.stop.reason);
      return behindCompaction(unasked ? state : endingBy(state, word), question.overflow);
    case "before-tool": {
      const refusals = new Map(
        question.calls.flatMap((call, index) => {
          const said = unasked ? word : words[index];
          return said?.type === "no" ? [[call, said] as const] : [];
        }),
      );
      return toolsJudged(state, question.calling, refusals);
    }
    case "after-tool": {
      const told = unasked ? state : words.reduce(endingBy, state);
      return toolsTold(told, question.calling, question.calls);
    }
    case "on-error":
      return turnEnded(unasked ? state : endingBy(state, word), question.ending);
    case "after-turn":
      return behindTurn(unasked ? state : endingBy(state, word), question.behind);
    case "on-text": {
      if (word.type !== "go-on" || state.stop !== undefined) return goOn(state, undefined, "asked");
      return goOn(withNotices(state, [word.text ?? GO_ON_TEXT]), "on-text");
    }
    case "after-task":
      return { ...state, taskOver: true, phase: { type: "loop-over" } };
    default:
      return assertNever(question);
  }
}

/** Words of hooks wait until the turn begins that they are for. */
function withNotices(state: State, notices: readonly string[]): State {
  if (notices.length === 0) return state;
  const loop = loopOf(state);
  return { ...state, loop: { ...loop, notices: [...(loop.notices ?? []), ...notices] } };
}

/** A hook that failed behind something, and whose failure is to stop the agent, ends the loop behind the turn. */
function endingBy(state: State, word: HookWord): State {
  const loop = loopOf(state);
  if (word.type !== "no" || loop.ended !== undefined) return state;
  return { ...state, loop: { ...loop, ended: { by: word.hook, reason: word.reason } } };
}
