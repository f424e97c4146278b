import type { z } from "zod";
import { buildPlaceholder } from "../../conversation/compaction/placeholder.ts";
import { choosePrune, type PruneChoice } from "../../conversation/pruning/choose-prune.ts";
import { chooseRevert } from "../../conversation/pruning/choose-revert.ts";
import { findMemo, wrapMemo } from "../../conversation/pruning/memo.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import { formatLabel } from "../../core/view/labels.ts";
import type { ToolView, ViewRequest } from "../../core/view/view-request.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { repairArguments } from "../../tools/argument-repair/repair-call.ts";
import type { PruneArguments, PruneWithMemoArguments } from "../../tools/builtin/prune-tools.ts";
import type { ReadFullMessageArguments } from "../../tools/builtin/read-full-message-tool.ts";
import type { RevertArguments } from "../../tools/builtin/revert-tool.ts";
import type { ViewTool } from "../../tools/tool.ts";
import type { Execution } from "./execution.ts";
import { readFull } from "./read-full.ts";

const SUMMARY_BYTES = 1021;
const REASON_BYTES = 253;

export type ViewCall = {
  readonly tool: ViewTool;
  /** With the arguments that a user has substituted, if any. */
  readonly call: ToolCallContent;
  /** As the model wrote it, and as the transcript contains it. */
  readonly original: ToolCallContent;
  /** The position of the answer. */
  readonly answer: number;
  readonly toolView: ToolView;
  /** The entries of the branch before the answer. */
  readonly entries: readonly Entry[];
};

export type ViewAnswer = Execution & { readonly viewRequest?: ViewRequest };

/** Answers a call about the view. It changes nothing itself: the machine applies the request after the batch. */
export function answerViewCall(asked: ViewCall): ViewAnswer {
  const recovered = repairArguments(asked.call.arguments, asked.tool);
  if ("message" in recovered) return buildReply(`Invalid arguments: ${recovered.message}`, true);
  if (asked.tool.action === "read") {
    return readFull(
      recovered.value as z.infer<typeof ReadFullMessageArguments>,
      asked.toolView.view,
      asked.entries,
    );
  }
  return asked.tool.action === "revert" ? revert(asked, recovered.value) : prune(asked, recovered.value);
}

type PruneInput = z.infer<typeof PruneArguments> & Partial<z.infer<typeof PruneWithMemoArguments>>;

function prune({ original, answer, toolView, entries }: ViewCall, value: unknown): ViewAnswer {
  const { tokens, memo } = value as PruneInput;
  if (memo !== undefined && findMemo(original.arguments) !== memo) {
    return buildReply(
      "Invalid arguments: memo must be a plain text in the call itself, because the call stores it",
      true,
    );
  }
  const memoTokens = memo === undefined ? undefined : estimateMessage(buildPlaceholder(wrapMemo(memo), 0));
  const chosen = choosePrune(toolView, entries, answer, tokens, memoTokens);
  if (chosen.type === "nothing")
    return buildReply(`Reclaimed 0 tokens: ${chosen.reason}.${formatMemoDropped(memo)}`, false);
  return { ...buildReply(formatReclaimed(chosen, tokens), false), viewRequest: chosen.request };
}

/** A memo replaces what was pruned; if nothing was pruned, the memo has no position. Its text stays in the call. */
function formatMemoDropped(memo: string | undefined): string {
  return memo === undefined
    ? ""
    : " Your memo was not added, because nothing was pruned; its text stays in this call.";
}

/** Formats what was removed, not what was requested (PHI-13i). */
function formatReclaimed({ request }: Extract<PruneChoice, { type: "pruned" }>, asked: number): string {
  const { tokens, messages, memoTokens } = request;
  const short = tokens < asked ? ` You requested ${asked}: there is no more to prune.` : "";
  const memo = memoTokens === undefined ? "" : ` Your memo replaces them (${memoTokens} tokens).`;
  return `Reclaimed ${tokens} tokens: ${messages} messages leave your context with your next answer.${memo}${short}`;
}

function revert({ toolView, entries }: ViewCall, value: unknown): ViewAnswer {
  const { category, step, summary } = value as z.infer<typeof RevertArguments>;
  const request = chooseRevert(toolView, entries, {
    category,
    step,
    ...(summary === undefined || summary.trim() === ""
      ? {}
      : { summary: redactPreview(summary, SUMMARY_BYTES) }),
  });
  if (!request.applied) {
    const reason = redactPreview(request.reason, REASON_BYTES);
    return { ...buildReply(`Not reverted: ${reason}.`, true), viewRequest: { ...request, reason } };
  }
  return {
    ...buildReply(`You continue from ${formatLabel(request.target)} with your next answer.`, false),
    viewRequest: request,
  };
}

function buildReply(text: string, isError: boolean): ViewAnswer {
  return { output: { content: [{ type: "text", text }] }, isError, outcomeUnknown: false };
}
