import { z } from "zod";
import { REVERT_TOOL } from "../../core/view/view-request.ts";
import { RevertCategory } from "../../schema/loop-event.ts";
import { defineOfferedTool, type ViewTool } from "../tool.ts";

/** A longer summary is rejected, and the model reads the limit. */
const MAX_SUMMARY_CHARS = 1000;

export const RevertArguments = z.object({
  category: RevertCategory.describe(
    "The reason for going back: a failure leaves a lesson, a tangent a finding, a completion an outcome, a step-summary a checkpoint",
  ),
  step: z.string().min(1).max(32).describe('The label of the entry to go back to, such as "n12"'),
  summary: z
    .string()
    .max(MAX_SUMMARY_CHARS)
    .optional()
    .describe("What you will need to know about the part that you leave. Only this summary remains of it"),
});

/** Creates the tool. It is offered only if a definition names it; entries then have labels (PHI-01, PHI-05). */
export function createRevertTool(): ViewTool {
  const tool = defineOfferedTool({
    name: REVERT_TOOL,
    label: "Go back",
    description:
      "Goes back to an earlier entry of this conversation. Everything after that entry leaves your context, and you continue from there with your summary. Files and the effects of commands are not undone. You cannot go back past a message from a user.",
    inputSchema: RevertArguments,
    replay: "pure",
    quick: true,
    summarise: ({ category, step }) => `${category}, to ${step}`,
  });
  return { ...tool, kind: "view", action: "revert" };
}
