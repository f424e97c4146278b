import { z } from "zod";
import { PRUN_TOOL, PRUN_WITH_MEMO_TOOL } from "../../core/view-request.ts";
import { defineTool, type Tool, ToolError } from "../tool.ts";

// Answered from the view itself (src/activities/view-call.ts): what is here is what a model is told of them.

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
export function prunTools(): Tool[] {
  const prun = defineTool({
    name: PRUN_TOOL,
    label: "Prune",
    description: WHAT,
    parameters: PrunArguments,
    replay: "pure",
    quick: true,
    summarise: ({ tokens }) => `${tokens} tokens`,
    execute: answeredElsewhere,
  });
  const withMemo = defineTool({
    name: PRUN_WITH_MEMO_TOOL,
    label: "Prune with memo",
    description: `${WHAT} A memo of yours stands in its place.`,
    parameters: PrunWithMemoArguments,
    replay: "pure",
    quick: true,
    summarise: ({ tokens }) => `${tokens} tokens, with a memo`,
    execute: answeredElsewhere,
  });
  return [
    { ...prun, view: "prune", together: [PRUN_WITH_MEMO_TOOL] },
    { ...withMemo, view: "prune" },
  ];
}

export function answeredElsewhere(): never {
  throw new ToolError("failed", "This tool works on the context of a run and cannot be executed by itself");
}
