import type { AgentDefinition } from "../../schema/definition.ts";
import type { Step } from "../../store/transcript/step.ts";
import type { ToolInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { askHooksNow, askingId } from "../hooks/ask-hooks.ts";

export type Show = (text: string) => void;

/**
 * Shows a tool's output where the hooks of the definition let it pass. A "no" drops this piece alone, and nobody is
 * told that it was shown (CB-05).
 */
export function hookedUpdates(
  show: Show,
  { id, name }: { readonly id: string; readonly name: string },
  input: Pick<ToolInput, "loopId" | "turn">,
  step: Pick<Step, "session" | "run" | "number" | "call">,
  definition: AgentDefinition,
  dependencies: Pick<Dependencies, "hooks" | "log">,
): Show {
  const { "before-tool-update": before = [], "after-tool-update": after = [] } = definition.hooks;
  if (before.length === 0 && after.length === 0) return show;
  const call = {
    sessionId: step.session,
    loopId: input.loopId,
    turnIndex: input.turn,
    toolCallId: id,
    toolName: name,
  };
  let pieces = 0;
  return (text) => {
    const piece = pieces++;
    const told = (point: string) => ({ ...call, id: askingId(step, point, step.call, piece), text });
    const asking = { definition, dependencies };
    const { decision } = askHooksNow("before-tool-update", told("before-tool-update"), asking);
    if (decision.type === "no") return;
    show(text);
    askHooksNow("after-tool-update", told("after-tool-update"), asking);
  };
}
