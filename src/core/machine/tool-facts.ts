import { isCutShort, type Shown } from "../view/view.ts";
import { READ_FULL_TOOL } from "../view/view-request.ts";
import { pinnedOf } from "./phase.ts";
import type { ToolFacts } from "./state/digest.ts";
import type { State } from "./state/state.ts";

const READER: ToolFacts = { replay: "pure", quick: true, view: true };

/** A tool of the agent, or the one that reads what its view leaves out of messages. */
export function toolFactsOf(state: State, name: string): ToolFacts | undefined {
  const { tools } = pinnedOf(state);
  if (Object.hasOwn(tools, name)) return tools[name];
  return isReader(state, name) ? READER : undefined;
}

/** The call reads this conversation, and nothing else. */
export function isReader(state: State, name: string): boolean {
  return (
    name === READ_FULL_TOOL && !Object.hasOwn(pinnedOf(state).tools, name) && offersReader(state.view.spans)
  );
}

/** Whether the model is offered the tool, besides those of its definition. */
export function offersReader(shown: readonly Shown[]): boolean {
  return shown.some(isCutShort);
}
