import type { z } from "zod";
import type { Rest } from "../../core/machine/task.ts";
import { shownBriefly } from "../../platform/text/redact.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import { recoverArguments } from "../../tools/argument-repair/recover-call.ts";
import type { FinishArguments, SleepArguments } from "../../tools/builtin/rest-tools.ts";
import type { Tool } from "../../tools/tool.ts";

/** With the "..." of a cut, 512 and 256. */
const SUMMARY_BYTES = 509;
const REASON_BYTES = 253;

/** How an agent wants its work to go on, by a call that has run. */
export function restIn(call: ToolCallContent, tool: Tool | undefined): Rest | undefined {
  if (tool?.kind !== "executable" || tool.rest === undefined) return undefined;
  const recovered = recoverArguments(call.arguments, tool);
  if ("message" in recovered) return undefined;
  if (tool.rest === "done") {
    const { summary } = recovered.value as z.infer<typeof FinishArguments>;
    return { type: "done", summary: shownBriefly(summary, SUMMARY_BYTES) };
  }
  const { seconds, reason } = recovered.value as z.infer<typeof SleepArguments>;
  return { type: "sleep", seconds, reason: shownBriefly(reason, REASON_BYTES) };
}
