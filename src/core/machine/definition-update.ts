import { dispatch } from "./dispatch.ts";
import { LOOP_ENDED } from "./phase.ts";
import type { AfterUpdate, State } from "./state/state.ts";

// Updates a run to another definition between two turns (design 3.8): one activity compares both and pins the new one.
// definition-update-result.ts continues after it, and definition-changes.ts describes what it changes.

/** Requests another definition. The newest request counts; a request for the current definition cancels it. */
export function requestDefinitionUpdate(state: State, hash: string): State {
  const { requestedUpdate: _, ...rest } = state;
  const { phase, pinned } = state;
  const now = phase.type === "updating-definition" ? phase.to : pinned?.definitionHash;
  if (hash === now)
    return phase.type === "updating-definition" ? rest : { ...rest, lastDefinitionUpdate: { to: hash } };
  if (pinned === undefined && phase.type !== "opening") return replaceRequestedDefinition(rest, hash);
  const asked = { ...rest, requestedUpdate: { hash } };
  if (phase.type === "waiting") {
    const { sinceMs, untilMs } = phase;
    return startDefinitionUpdate(asked, hash, { type: "wait", sinceMs, untilMs });
  }
  return phase.type === "ended" ? { ...asked, phase: LOOP_ENDED } : asked;
}

export function startDefinitionUpdate(state: State, to: string, then: AfterUpdate): State {
  const { requestedUpdate: _, ...rest } = state;
  if (state.pinned === undefined) return replaceRequestedDefinition(rest, to);
  const given = dispatch(rest);
  return {
    ...given.state,
    phase: { type: "updating-definition", dispatch: given.dispatch, to, continueWith: then },
  };
}

/** Replaces the definition of a run that has not begun: the first loop opens with the new one. */
function replaceRequestedDefinition(state: State, hash: string): State {
  return { ...state, requestedDefinition: { hash }, lastDefinitionUpdate: { to: hash } };
}

export function isRemovedTool({ loop }: State, tool: string): boolean {
  return loop?.removedTools?.includes(tool) === true;
}

/** Formats the result of a call to a tool that was removed from the model. */
export function formatRemovedTool(tool: string): string {
  return `Tool ${tool} was removed from this agent while it was working: continue without it`;
}

/** The maximum number of names in a notice to the model. */
const MAX_NAMED = 32;

/** Formats the notice of removed tools, which the model reads with the next turn. */
export function formatRemovedNotice(tools: readonly string[]): string {
  const more = tools.length - MAX_NAMED;
  const names = tools.slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} others` : "");
  const [subject, object] = tools.length === 1 ? ["tool is", "it"] : ["tools are", "them"];
  return `The following ${subject} no longer available: ${names}. Do not call ${object} again.`;
}
