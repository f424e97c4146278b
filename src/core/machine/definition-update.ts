import { dispatch } from "./dispatch.ts";
import { LOOP_ENDED } from "./phase.ts";
import type { AfterUpdate, State } from "./state/state.ts";

// A run is moved to another definition between two turns (design 3.8): by one activity, which looks at both and pins
// the new one. What goes on behind it stands in moved.ts, what it changes in definition-changes.ts.

/** A person wants another definition. The newest wish counts; who wishes for what there is takes a wish back. */
export function requestDefinitionUpdate(state: State, hash: string): State {
  const { update: _, ...rest } = state;
  const { phase, pinned } = state;
  const now = phase.type === "moving" ? phase.to : pinned?.definitionHash;
  if (hash === now) return phase.type === "moving" ? rest : { ...rest, lastMove: { to: hash } };
  if (pinned === undefined && phase.type !== "opening") return replaceRequestedDefinition(rest, hash);
  const asked = { ...rest, update: { hash } };
  if (phase.type === "waiting") {
    const { sinceMs, untilMs } = phase;
    return startDefinitionUpdate(asked, hash, { type: "wait", sinceMs, untilMs });
  }
  return phase.type === "ended" ? { ...asked, phase: LOOP_ENDED } : asked;
}

export function startDefinitionUpdate(state: State, to: string, then: AfterUpdate): State {
  const { update: _, ...rest } = state;
  if (state.pinned === undefined) return replaceRequestedDefinition(rest, to);
  const given = dispatch(rest);
  return { ...given.state, phase: { type: "moving", issue: given.issue, to, then } };
}

/** Nothing runs yet that could be moved: the first loop opens with it. */
function replaceRequestedDefinition(state: State, hash: string): State {
  return { ...state, asked: { hash }, lastMove: { to: hash } };
}

export function isRemovedTool({ loop }: State, tool: string): boolean {
  return loop?.removedTools?.includes(tool) === true;
}

/** What a model reads that calls a tool which was taken from it. */
export function formatRemovedTool(tool: string): string {
  return `Tool ${tool} was removed from this agent while it was working: do without it`;
}

/** Names that the words for a model give. */
const MAX_NAMED = 32;

/** What a model is told of tools that it has no more, with the turn that begins. */
export function formatRemovedNotice(tools: readonly string[]): string {
  const more = tools.length - MAX_NAMED;
  const names = tools.slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} others` : "");
  const [subject, object] = tools.length === 1 ? ["tool is", "it"] : ["tools are", "them"];
  return `The following ${subject} no longer available: ${names}. Do not call ${object} again.`;
}
