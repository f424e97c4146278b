import type { z } from "zod";
import type { NextRound } from "../../core/machine/state/task.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import { repairArguments } from "../../tools/argument-repair/repair-call.ts";
import type { FinishArguments, SleepArguments } from "../../tools/builtin/next-round-tools.ts";
import type { Tool } from "../../tools/tool.ts";

/** With the "..." of a cut, 512 and 256. */
const SUMMARY_BYTES = 509;
const REASON_BYTES = 253;

/** Parses how an agent wants its work to continue from a call that has run. */
export function parseNextRound(call: ToolCallContent, tool: Tool | undefined): NextRound | undefined {
  if (tool?.kind !== "executable" || tool.nextRound === undefined) return undefined;
  const recovered = repairArguments(call.arguments, tool);
  if ("message" in recovered) return undefined;
  if (tool.nextRound === "done") {
    const { summary } = recovered.value as z.infer<typeof FinishArguments>;
    return { type: "done", summary: redactPreview(summary, SUMMARY_BYTES) };
  }
  const { seconds, reason } = recovered.value as z.infer<typeof SleepArguments>;
  return { type: "sleep", seconds, reason: redactPreview(reason, REASON_BYTES) };
}
