import { z } from "zod";
import { REVERT_TOOL } from "../../core/view/view-request.ts";
import { RevertCategory } from "../../schema/record.ts";
import { defineOfferedTool, type ViewTool } from "../tool.ts";

/** Longer ones are no summary; the model is told so. */
const MAX_SUMMARY_CHARS = 1000;

export const RevertArguments = z.object({
  category: RevertCategory.describe(
    "Why: a failure leaves a lesson, a tangent a finding, a completion an outcome, a step-summary a checkpoint",
  ),
  step: z.string().min(1).max(32).describe('The entry to go back to, by its label, such as "n12"'),
  summary: z
    .string()
    .max(MAX_SUMMARY_CHARS)
    .optional()
    .describe("What you will need to know of what you leave: the only thing that stays of it"),
});

/** Offered only where a definition names it; entries are labelled then (PHI-01, PHI-05). */
export function createRevertTool(): ViewTool {
  const tool = defineOfferedTool({
    name: REVERT_TOOL,
    label: "Go back",
    description:
      "Leaves everything after an earlier entry of this conversation and goes on from there, with your summary. Files and what commands have done stay as they are. Not possible across something that a person has said.",
    parameters: RevertArguments,
    replay: "pure",
    quick: true,
    summarise: ({ category, step }) => `${category}, to ${step}`,
  });
  return { ...tool, kind: "view", act: "revert" };
}
