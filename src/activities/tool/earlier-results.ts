import type { Entry } from "../../schema/record.ts";
import type { ExecutableTool } from "../../tools/tool.ts";
import type { EarlierResult } from "../../tools/tool-execution.ts";

/** Lists what the calls of a tool have returned, in the order of the conversation. */
export function listEarlierResults(
  { name, aliases = [] }: Pick<ExecutableTool, "name" | "aliases">,
  entries: readonly Pick<Entry, "message">[],
): readonly EarlierResult[] {
  const names = [name, ...aliases];
  return entries.flatMap(({ message }) => {
    if (message.role !== "toolResult" || message.isError || !names.includes(message.toolName)) return [];
    const { toolCallId, content, details } = message;
    return [{ toolCallId, content, ...(details === undefined ? {} : { details }) }];
  });
}
