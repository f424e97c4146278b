import { ProtocolError } from "../../platform/text/protocol-error.ts";
import type { PinnedDigest } from "./state/digest.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { Phase, State } from "./state/state.ts";

export type PhaseOf<Type extends Phase["type"]> = Extract<Phase, { type: Type }>;

/** Returns the phase that an event is about; an event for another phase cannot have happened. */
export function requirePhase<Type extends Phase["type"]>(
  state: State,
  type: Type,
  event: string,
): PhaseOf<Type> {
  if (state.phase.type !== type) throw new ProtocolError(`"${event}" while ${state.phase.type}`);
  return state.phase as PhaseOf<Type>;
}

export function requireLoop(state: State): OpenLoop {
  if (state.loop === undefined) throw new ProtocolError(`No loop is open while ${state.phase.type}`);
  return state.loop;
}

export function requirePinned(state: State): PinnedDigest {
  if (state.pinned === undefined) throw new ProtocolError(`Nothing is pinned while ${state.phase.type}`);
  return state.pinned;
}

export const LOOP_ENDED = { type: "loop-ended" } as const;
