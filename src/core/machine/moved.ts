import { assertNever } from "../../platform/text/assert-never.ts";
import { closeLoop } from "./close.ts";
import { reissue, settle } from "./issue.ts";
import { removedNotice, startMove } from "./moving.ts";
import { emit } from "./outbox.ts";
import { LOOP_OVER, type PhaseOf, pinnedOf } from "./phase.ts";
import { beforeRotation } from "./rotation.ts";
import type { MoveDigest } from "./state/digest.ts";
import type { Setback } from "./state/run-event.ts";
import type { Resume, State } from "./state/state.ts";
import { goOn } from "./turn-end.ts";

// What goes on when a run was moved to another definition, or kept the one that it had.

/** What was spent, what hooks have let begin and what a person has allowed stays as it was. */
export function definitionMoved(state: State, phase: PhaseOf<"moving">, digest: MoveDigest): State {
  const settled = settle(state, phase.issue, digest.branch);
  return digest.type === "moved"
    ? behind(moved(settled, digest), phase)
    : behind(kept(settled, phase.to, digest.reason), phase);
}

/** Given out again until it is done, like every step that only writes. */
export function moveSetBack(state: State, phase: PhaseOf<"moving">, setback: Setback): State {
  if (setback.type === "failed") return behind(kept(state, phase.to, setback.failure.message), phase);
  return { ...state, phase: { ...phase, issue: reissue(phase.issue, setback) } };
}

/** The vendor's count was for what the former definition had sent. */
function moved(state: State, digest: Extract<MoveDigest, { type: "moved" }>): State {
  const before = pinnedOf(state);
  const { definitionHash: to } = digest.pinned;
  const { counted: _, ...rest } = state;
  const limits = state.loop === undefined ? digest.pinned.limits : { ...before.limits, ...digest.limits };
  const { changes, warnings, terms } = digest;
  const now = emit(
    { ...rest, asked: { hash: to }, lastMove: { to }, pinned: { ...digest.pinned, limits } },
    {
      type: "DefinitionChanged",
      from: before.definitionHash,
      to,
      applied: true,
      changes: [...changes],
      warnings: [...warnings],
      terms,
    },
  );
  return withoutTools(now, Object.keys(before.tools));
}

function kept(state: State, to: string, reason: string): State {
  const { definitionHash: from } = pinnedOf(state);
  const told = { from, to, applied: false, changes: [], warnings: [], reason };
  return emit({ ...state, lastMove: { to, refused: reason } }, { type: "DefinitionChanged", ...told });
}

/** Names that a loop remembers; the oldest go first. */
const MAX_REMOVED = 64;

/** Tools that the model had and has no more: it is told so, and so is who calls one all the same. */
function withoutTools(state: State, before: readonly string[]): State {
  const { loop } = state;
  const { tools } = pinnedOf(state);
  if (loop === undefined) return state;
  const gone = before.filter((name) => !Object.hasOwn(tools, name));
  const { removedTools = [], notices = [], ...rest } = loop;
  const removed = [...removedTools, ...gone]
    .filter((name) => !Object.hasOwn(tools, name))
    .slice(-MAX_REMOVED);
  const words = gone.length === 0 ? notices : [...notices, removedNotice(gone)];
  return {
    ...state,
    loop: {
      ...rest,
      ...(removed.length === 0 ? {} : { removedTools: removed }),
      ...(words.length === 0 ? {} : { notices: words }),
    },
  };
}

function behind(state: State, { then }: PhaseOf<"moving">): State {
  switch (then.type) {
    case "turn":
    case "wait":
      return resume(state, then);
    case "close":
      return closeLoop(state, then.outcome);
    case "loop-over":
      return { ...state, phase: LOOP_OVER };
    default:
      return assertNever(then);
  }
}

/** Goes on where a run had stopped to be moved, or to continue as new. */
export function resume(state: State, point: Resume): State {
  if (point.type === "turn") {
    return point.source === "opening"
      ? { ...state, phase: { type: "turn-due", source: "opening" } }
      : // Words that the turn was to begin with may have been cleared since, and others have come.
        goOn(state, point.source);
  }
  if (state.stop !== undefined) return { ...state, phase: LOOP_OVER };
  if (state.update !== undefined) return startMove(state, state.update.hash, point);
  return state.rotate ? beforeRotation(state, point) : { ...state, phase: { ...point, type: "waiting" } };
}
