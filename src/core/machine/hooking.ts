import type { HookPoint } from "../../schema/hooks.ts";
import type { Outcome } from "../../schema/record.ts";
import { viewLength } from "../view/view.ts";
import { rangesOf } from "../view/view-ranges.ts";
import { contextTokens } from "./compacting.ts";
import { issue } from "./issue.ts";
import { loopOf, pinnedOf } from "./phase.ts";
import type { HookAsk, RunHookCommand } from "./state/command.ts";
import type { HookWord } from "./state/digest.ts";
import type { HookQuestion } from "./state/hook-question.ts";
import type { State } from "./state/state.ts";

// Hooks are asked by an activity of their own, one point at a time, and only where the definition names one. What goes
// on behind the answer stands in hooked.ts.

export function hasHook(state: State, point: HookPoint): boolean {
  return state.pinned?.hooks?.includes(point) === true;
}

export function askHooks(state: State, question: HookQuestion): State {
  const given = issue(state);
  const phase = { type: "hooking" as const, issue: given.issue, question };
  return { ...given.state, phase: state.stop === undefined ? phase : { ...phase, brief: true } };
}

/** How a loop ends that a hook has ended. */
export function endedBy(word: Extract<HookWord, { type: "no" | "end" }>): Outcome {
  return { type: "ended", by: word.hook, reason: word.type === "no" ? word.reason : word.text };
}

type Asked = Pick<RunHookCommand, "loopId" | "definitionHash" | "turn" | "ask" | "view">;

/** The question as it travels: the activity finds messages and arguments in the transcript. */
export function askedOf(state: State, question: HookQuestion): Asked {
  const { definitionHash } = pinnedOf(state);
  const ask = shortOf(state, question);
  if (question.point === "after-task") return { loopId: "", definitionHash, turn: 0, ask };
  const loop = loopOf(state);
  const turn = question.point === "after-turn" ? question.turn : loop.turn;
  const seesAll = question.point === "before-turn" || question.point === "after-turn";
  const view = seesAll ? { view: rangesOf(state.view) } : {};
  return { loopId: loop.loopId, definitionHash, turn, ask, ...view };
}

function shortOf(state: State, question: HookQuestion): HookAsk {
  switch (question.point) {
    case "before-turn":
    case "after-task":
      return { point: question.point };
    case "after-turn":
      return { point: question.point, usage: question.usage };
    case "on-error":
      return { point: question.point, position: question.ending.position };
    case "on-text":
      return { point: question.point, position: question.position };
    case "before-compaction":
      return {
        point: question.point,
        estimatedTokens: contextTokens(state),
        messageCount: viewLength(state.view),
      };
    case "after-compaction":
      return { point: question.point, ...question.counts };
    case "before-tool":
    case "after-tool": {
      const { point, calling } = question;
      const calls = question.calls.flatMap((index) => {
        const call = calling.calls[index];
        if (call === undefined) return [];
        const isError = call.status.type === "done" ? { isError: call.status.isError } : {};
        return [{ call: index, toolCallId: call.id, toolName: call.name, ...isError }];
      });
      return { point, answer: calling.position, calls };
    }
  }
}
