import { assertNever } from "../../platform/text/assert-never.ts";
import { closeLoop } from "./close-loop.ts";
import { formatRemovedNotice, startDefinitionUpdate } from "./definition-update.ts";
import { completeDispatch, redispatch } from "./dispatch.ts";
import { emit } from "./outbox.ts";
import { LOOP_ENDED, type PhaseOf, requirePinned } from "./phase.ts";
import { prepareRotation } from "./rotation.ts";
import type { DefinitionUpdateDigest } from "./state/digest.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { Resume, State } from "./state/state.ts";
import { startNextTurn } from "./turn-end.ts";

// How a run continues after a definition update, whether it was applied or rejected.

/** What was spent, what hooks have admitted and what the user has allowed stays unchanged. */
export function applyDefinitionUpdate(
  state: State,
  phase: PhaseOf<"updating-definition">,
  digest: DefinitionUpdateDigest,
): State {
  const settled = completeDispatch(state, phase.dispatch, digest.branch);
  return digest.type === "updated"
    ? continueAfterUpdate(pinDefinition(settled, digest), phase)
    : continueAfterUpdate(rejectDefinition(settled, phase.to, digest.reason), phase);
}

/** Dispatches the step again until it succeeds, like every step that only writes. */
export function handleUpdateFailure(
  state: State,
  phase: PhaseOf<"updating-definition">,
  failure: StepFailure,
): State {
  if (failure.type === "failed")
    return continueAfterUpdate(rejectDefinition(state, phase.to, failure.failure.message), phase);
  return { ...state, phase: { ...phase, dispatch: redispatch(phase.dispatch, failure) } };
}

/** The vendor's token count was for what the previous definition sent. */
function pinDefinition(state: State, digest: Extract<DefinitionUpdateDigest, { type: "updated" }>): State {
  const before = requirePinned(state);
  const { definitionHash: to } = digest.pinned;
  const { reportedSize: _, ...rest } = state;
  const limits = state.loop === undefined ? digest.pinned.limits : { ...before.limits, ...digest.limits };
  const { changes, warnings, terms } = digest;
  const now = emit(
    {
      ...rest,
      requestedDefinition: { hash: to },
      lastDefinitionUpdate: { to },
      pinned: { ...digest.pinned, limits },
    },
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
  return removeTools(now, Object.keys(before.tools));
}

function rejectDefinition(state: State, to: string, reason: string): State {
  const { definitionHash: from } = requirePinned(state);
  const event = { from, to, applied: false, changes: [], warnings: [], reason };
  return emit(
    { ...state, lastDefinitionUpdate: { to, rejected: reason } },
    { type: "DefinitionChanged", ...event },
  );
}

/** The maximum number of removed tools that a loop remembers; the oldest are dropped first. */
const MAX_REMOVED_TOOLS = 64;

/** Records the tools that the model has lost. The model is informed, and a call to such a tool gets an explanation. */
function removeTools(state: State, before: readonly string[]): State {
  const { loop } = state;
  const { tools } = requirePinned(state);
  if (loop === undefined) return state;
  const removedNames = before.filter((name) => !Object.hasOwn(tools, name));
  const { removedTools = [], notices = [], ...rest } = loop;
  const removed = [...removedTools, ...removedNames]
    .filter((name) => !Object.hasOwn(tools, name))
    .slice(-MAX_REMOVED_TOOLS);
  const allNotices = removedNames.length === 0 ? notices : [...notices, formatRemovedNotice(removedNames)];
  return {
    ...state,
    loop: {
      ...rest,
      ...(removed.length === 0 ? {} : { removedTools: removed }),
      ...(allNotices.length === 0 ? {} : { notices: allNotices }),
    },
  };
}

function continueAfterUpdate(state: State, { continueWith }: PhaseOf<"updating-definition">): State {
  switch (continueWith.type) {
    case "turn":
    case "wait":
      return resume(state, continueWith);
    case "close":
      return closeLoop(state, continueWith.outcome);
    case "loop-ended":
      return { ...state, phase: LOOP_ENDED };
    default:
      return assertNever(continueWith);
  }
}

/** Continues at the point where a run stopped to be updated or to continue as new. */
export function resume(state: State, target: Resume): State {
  if (target.type === "turn") {
    return target.source === "opening"
      ? { ...state, phase: { type: "turn-pending", source: "opening" } }
      : // The messages that the turn was to begin with may have been cleared since, and others may have arrived.
        startNextTurn(state, target.source);
  }
  if (state.stop !== undefined) return { ...state, phase: LOOP_ENDED };
  if (state.requestedUpdate !== undefined)
    return startDefinitionUpdate(state, state.requestedUpdate.hash, target);
  return state.rotationRequested
    ? prepareRotation(state, target)
    : { ...state, phase: { ...target, type: "waiting" } };
}
