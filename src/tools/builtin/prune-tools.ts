import { z } from "zod";
import { PRUNE_TOOL, PRUNE_WITH_MEMO_TOOL } from "../../core/view/view-request.ts";
import { defineOfferedTool, type ViewTool } from "../tool.ts";

// Answered from the view itself (src/activities/tool/view-call.ts): what is here is what a model is told of them.

/** Longer ones are no memo; the model is told so. */
const MAX_MEMO_CHARS = 2000;

const tokensSchema = z
  .number()
  .int()
  .positive()
  .describe("How many tokens to reclaim; whole answers with their results leave, the oldest first");

export const PruneArguments = z.object({ tokens: tokensSchema });
export const PruneWithMemoArguments = z.object({
  tokens: tokensSchema,
  memo: z
    .string()
    .min(1)
    .max(MAX_MEMO_CHARS)
    .describe("What you want to remember of it; stands where the pruned part stood"),
});

const PRUNE_DESCRIPTION =
  "Removes your oldest answers and tool results from your context, until the given number of tokens is reclaimed. What people have said stays.";

/** Both operations from one registration: a definition names `prun` (PRUN-10). */
export function createPruneTools(): ViewTool[] {
  const prune = defineOfferedTool({
    name: PRUNE_TOOL,
    label: "Prune",
    description: PRUNE_DESCRIPTION,
    parameters: PruneArguments,
    replay: "pure",
    quick: true,
    summarise: ({ tokens }) => `${tokens} tokens`,
  });
  const withMemo = defineOfferedTool({
    name: PRUNE_WITH_MEMO_TOOL,
    label: "Prune with memo",
    description: `${PRUNE_DESCRIPTION} A memo of yours stands in its place.`,
    parameters: PruneWithMemoArguments,
    replay: "pure",
    quick: true,
    summarise: ({ tokens }) => `${tokens} tokens, with a memo`,
  });
  return [
    { ...prune, kind: "view", act: "prune", together: [PRUNE_WITH_MEMO_TOOL] },
    { ...withMemo, kind: "view", act: "prune" },
  ];
}
