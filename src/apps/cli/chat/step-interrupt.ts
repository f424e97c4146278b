import type { ChatPhase } from "../step-chat.ts";

// Ctrl-C and Ctrl-D at a terminal, without terminal I/O.

/** `armed`: the user was told that the next Ctrl-C exits. Every other key disarms it. */
export type InterruptState = "calm" | "armed";

export type InterruptAction =
  /** Empties the editor. */
  | "clear"
  /** Stops the run, or leaves one that is stopping. */
  | "interrupt"
  /** Tells the user that the next Ctrl-C exits. */
  | "warn"
  | "leave"
  | "none";

export type InterruptStep = { readonly state: InterruptState; readonly action: InterruptAction };

/** What is typed is cleared first; then the run is stopped; then the chat is left, at the second time if nothing runs. */
export function stepInterrupt(state: InterruptState, isEmpty: boolean, phase: ChatPhase): InterruptStep {
  if (!isEmpty) return { state: "calm", action: "clear" };
  if (phase !== "idle") return { state: "calm", action: "interrupt" };
  return state === "armed" ? { state, action: "leave" } : { state: "armed", action: "warn" };
}

/** Ctrl-D deletes forward in a text, and leaves at an empty editor. */
export function stepEndOfInput(isEmpty: boolean): InterruptAction {
  return isEmpty ? "leave" : "none";
}
