import { z } from "zod";
import { PRUN_TOOL, PRUN_WITH_MEMO_TOOL } from "../../core/view/view-request.ts";
import { offeredTool, type ViewTool } from "../tool.ts";

// Answered from the view itself (src/activities/tool/view-call.ts): what is here is what a model is told of them.

/** Longer ones are no memo; the model is told so. */
const MAX_MEMO_CHARS = 2000;

const tokens = z
  .number()
  .int()
  .positive()
  .describe("How many tokens to reclaim; whole answers with their results leave, the oldest first");

export const PrunArguments = z.object({ tokens });
export const PrunWithMemoArguments = z.object({
  tokens,
  memo: z
    .string()
    .min(1)
    .max(MAX_MEMO_CHARS)
    .describe("What you want to remember of it; stands where the pruned part stood"),
});

const WHAT =
  "Removes your oldest answers and tool results from your context, until the given number of tokens is reclaimed. What people have said stays.";

/** Both operations from one registration: a definition names `prun` (PRUN-10). */
export function prunTools(): ViewTool[] {
  const prun = offeredTool({
    name: PRUN_TOOL,
    label: "Prune",
    description: WHAT,
    parameters: PrunArguments,
    replay: "pure",
    quick: true,
    summarise: ({ tokens }) => `${tokens} tokens`,
  });
  const withMemo = offeredTool({
    name: PRUN_WITH_MEMO_TOOL,
    label: "Prune with memo",
    description: `${WHAT} A memo of yours stands in its place.`,
    parameters: PrunWithMemoArguments,
    replay: "pure",
    quick: true,
    summarise: ({ tokens }) => `${tokens} tokens, with a memo`,
  });
  return [
    { ...prun, kind: "view", act: "prune", together: [PRUN_WITH_MEMO_TOOL] },
    { ...withMemo, kind: "view", act: "prune" },
  ];
}
