import { z } from "zod";
import { PRUNE_TOOL, PRUNE_WITH_MEMO_TOOL } from "../../core/view/view-request.ts";
import { defineOfferedTool, type ViewTool } from "../tool.ts";

// The worker answers these calls from the view itself (src/activities/tool/view-call.ts). Models read what is here.

/** A longer memo is rejected, and the model reads the limit. */
const MAX_MEMO_CHARS = 2000;

const tokensSchema = z
  .number()
  .int()
  .positive()
  .describe(
    "How many tokens to reclaim. Whole answers are removed together with their tool results, the oldest first",
  );

export const PruneArguments = z.object({ tokens: tokensSchema });
export const PruneWithMemoArguments = z.object({
  tokens: tokensSchema,
  memo: z
    .string()
    .min(1)
    .max(MAX_MEMO_CHARS)
    .describe("What you want to remember of the removed part. The memo takes its place in your context"),
});

const PRUNE_DESCRIPTION =
  "Removes your oldest answers and tool results from your context until the given number of tokens is reclaimed. Messages from users stay.";

/** Creates both operations under one registration: a definition names `prun` (PRUN-10). */
export function createPruneTools(): ViewTool[] {
  const prune = defineOfferedTool({
    name: PRUNE_TOOL,
    label: "Prune",
    description: PRUNE_DESCRIPTION,
    inputSchema: PruneArguments,
    replay: "pure",
    quick: true,
    summarise: ({ tokens }) => `${tokens} tokens`,
  });
  const withMemo = defineOfferedTool({
    name: PRUNE_WITH_MEMO_TOOL,
    label: "Prune with memo",
    description: `${PRUNE_DESCRIPTION} Your memo takes the place of the removed part.`,
    inputSchema: PruneWithMemoArguments,
    replay: "pure",
    quick: true,
    summarise: ({ tokens }) => `${tokens} tokens, with a memo`,
  });
  return [
    { ...prune, kind: "view", action: "prune", companions: [PRUNE_WITH_MEMO_TOOL] },
    { ...withMemo, kind: "view", action: "prune" },
  ];
}
