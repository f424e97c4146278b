import { isCutShort, type SpanFormat } from "../view/view.ts";
import { READ_FULL_TOOL } from "../view/view-request.ts";
import { requirePinned } from "./phase.ts";
import type { ToolFacts } from "./state/digest.ts";
import type { State } from "./state/state.ts";

const READ_FULL_FACTS: ToolFacts = { replay: "pure", quick: true, view: true };

/** Returns the facts of a tool of the agent, or of the tool that reads what the view omits from messages. */
export function getToolFacts(state: State, name: string): ToolFacts | undefined {
  const { tools } = requirePinned(state);
  if (Object.hasOwn(tools, name)) return tools[name];
  return isReadFullTool(state, name) ? READ_FULL_FACTS : undefined;
}

/** Reports whether the call reads this conversation and nothing else. */
export function isReadFullTool(state: State, name: string): boolean {
  return (
    name === READ_FULL_TOOL &&
    !Object.hasOwn(requirePinned(state).tools, name) &&
    offersReadFullTool(state.view.spans)
  );
}

/** Reports whether the model is offered the tool in addition to those of its definition. */
export function offersReadFullTool(shown: readonly SpanFormat[]): boolean {
  return shown.some(isCutShort);
}
