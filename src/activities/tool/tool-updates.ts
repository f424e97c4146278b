import type { AgentDefinition } from "../../schema/definition.ts";
import type { Step } from "../../store/transcript/step.ts";
import type { ToolInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { askHooksNow, buildCallId } from "../hooks/ask-hooks.ts";

export type ShowUpdate = (text: string) => void;

/**
 * Publishes a tool's output where the hooks of the definition allow it. A "no" drops only this chunk, and nothing
 * reports it as published (CB-05).
 */
export function createHookedUpdates(
  show: ShowUpdate,
  { id, name }: { readonly id: string; readonly name: string },
  input: Pick<ToolInput, "loopId" | "turn">,
  step: Pick<Step, "session" | "run" | "number" | "call">,
  definition: AgentDefinition,
  dependencies: Pick<Dependencies, "hooks" | "log">,
): ShowUpdate {
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
    const buildContext = (point: string) => ({
      ...call,
      id: buildCallId(step, point, step.call, piece),
      text,
    });
    const asking = { definition, dependencies };
    const { decision } = askHooksNow("before-tool-update", buildContext("before-tool-update"), asking);
    if (decision.type === "no") return;
    show(text);
    askHooksNow("after-tool-update", buildContext("after-tool-update"), asking);
  };
}
