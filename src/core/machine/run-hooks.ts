import type { HookPoint } from "../../schema/hooks.ts";
import type { Outcome } from "../../schema/record.ts";
import { countEntries } from "../view/view.ts";
import { toViewRanges } from "../view/view-ranges.ts";
import { countContextTokens } from "./compact-view.ts";
import { dispatch } from "./dispatch.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import type { HookInput, RunHookCommand } from "./state/activity-command.ts";
import type { HookResult } from "./state/digest.ts";
import type { HookQuestion } from "./state/hook-question.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

// An activity of its own calls hooks, one point at a time, and only where the definition has hooks. hook-results.ts
// continues after the answer.

export function hasHook(state: State, point: HookPoint): boolean {
  return state.pinned?.hooks?.includes(point) === true;
}

export function askHooks(state: State, question: HookQuestion): State {
  const given = dispatch(state);
  const phase = { type: "running-hooks" as const, dispatch: given.dispatch, question };
  return { ...given.state, phase: state.stop === undefined ? phase : { ...phase, isBrief: true } };
}

/** Reports whether a hook requires that the answer of the current turn has no calls. */
export function isTextOnly({ textOnlyTurn, turn }: OpenLoop): boolean {
  return textOnlyTurn === turn;
}

/** Returns the outcome of a loop that a hook has ended. */
export function toHookOutcome(word: Extract<HookResult, { type: "no" | "end" }>): Outcome {
  return { type: "ended", by: word.hook, reason: word.type === "no" ? word.reason : word.text };
}

type HookRequest = Pick<RunHookCommand, "loopId" | "definitionHash" | "turn" | "question" | "view">;

/** Builds the request for the activity, which reads messages and arguments from the transcript. */
export function buildHookRequest(state: State, question: HookQuestion): HookRequest {
  const { definitionHash } = requirePinned(state);
  const ask = buildHookInput(state, question);
  if (question.point === "after-task") return { loopId: "", definitionHash, turn: 0, question: ask };
  const loop = requireLoop(state);
  const turn = question.point === "after-turn" ? question.turn : loop.turn;
  const seesAll = question.point === "before-turn" || question.point === "after-turn";
  const view = seesAll ? { view: toViewRanges(state.view) } : {};
  return { loopId: loop.loopId, definitionHash, turn, question: ask, ...view };
}

function buildHookInput(state: State, question: HookQuestion): HookInput {
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
        estimatedTokens: countContextTokens(state),
        messageCount: countEntries(state.view),
      };
    case "after-compaction":
      return { point: question.point, ...question.counts };
    case "before-tool":
    case "after-tool": {
      const { point, phase } = question;
      const calls = question.calls.flatMap((index) => {
        const call = phase.calls[index];
        if (call === undefined) return [];
        const errorField = call.status.type === "done" ? { isError: call.status.isError } : {};
        return [{ call: index, toolCallId: call.id, toolName: call.name, ...errorField }];
      });
      return { point, answer: phase.position, calls };
    }
  }
}
