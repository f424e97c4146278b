import type { z } from "zod";
import { standIn } from "../../conversation/compaction/stand-in.ts";
import { type Chosen, choosePrune } from "../../conversation/pruning/choose-prune.ts";
import { chooseRevert } from "../../conversation/pruning/choose-revert.ts";
import { memoOf, memoWords } from "../../conversation/pruning/memo.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import { labelOf } from "../../core/view/labels.ts";
import type { ViewAtHand, ViewRequest } from "../../core/view/view-request.ts";
import { shownBriefly } from "../../platform/text/redact.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { recoverArguments } from "../../tools/argument-repair/recover-call.ts";
import type { PrunArguments, PrunWithMemoArguments } from "../../tools/builtin/prun.ts";
import type { ReadFullArguments } from "../../tools/builtin/read-full-message.ts";
import type { RevertArguments } from "../../tools/builtin/revert-to-state.ts";
import type { ViewTool } from "../../tools/tool.ts";
import type { Execution } from "./execution.ts";
import { readFull } from "./read-full.ts";

const SUMMARY_BYTES = 1021;
const REASON_BYTES = 253;

export type ViewCall = {
  readonly tool: ViewTool;
  /** With the arguments that a person has put in, where one has. */
  readonly call: ToolCallContent;
  /** As the model has made it, and the transcript holds it. */
  readonly written: ToolCallContent;
  /** Of the answer. */
  readonly answer: number;
  readonly atHand: ViewAtHand;
  /** Of the branch, before the answer. */
  readonly entries: readonly Entry[];
};

export type ViewAnswer = Execution & { readonly request?: ViewRequest };

/** Answers a call that is about the view. It changes nothing itself: the machine does what it asks for, behind the batch. */
export function answerViewCall(asked: ViewCall): ViewAnswer {
  const recovered = recoverArguments(asked.call.arguments, asked.tool);
  if ("message" in recovered) return told(`Invalid arguments: ${recovered.message}`, true);
  if (asked.tool.act === "read") {
    return readFull(recovered.value as z.infer<typeof ReadFullArguments>, asked.atHand.view, asked.entries);
  }
  return asked.tool.act === "revert" ? revert(asked, recovered.value) : prune(asked, recovered.value);
}

type PruneAsked = z.infer<typeof PrunArguments> & Partial<z.infer<typeof PrunWithMemoArguments>>;

function prune({ written, answer, atHand, entries }: ViewCall, value: unknown): ViewAnswer {
  const { tokens, memo } = value as PruneAsked;
  if (memo !== undefined && memoOf(written.arguments) !== memo) {
    return told(
      "Invalid arguments: memo must be a plain text in the call itself, for that is where it stays",
      true,
    );
  }
  const memoTokens = memo === undefined ? undefined : estimateMessage(standIn(memoWords(memo), 0));
  const chosen = choosePrune(atHand, entries, answer, tokens, memoTokens);
  if (chosen.type === "nothing") return told(`Reclaimed 0 tokens: ${chosen.why}.${notKept(memo)}`, false);
  return { ...told(reclaimed(chosen, tokens), false), request: chosen.request };
}

/** A memo stands in place of what was pruned; without that it has no place. Its words stay in the call. */
function notKept(memo: string | undefined): string {
  return memo === undefined
    ? ""
    : " Your memo was not added, because nothing was pruned; its words stay in this call.";
}

/** What was removed, not what was asked (PHI-13i). */
function reclaimed({ request }: Extract<Chosen, { type: "pruned" }>, asked: number): string {
  const { tokens, messages, memoTokens } = request;
  const short = tokens < asked ? ` You asked for ${asked}: there is no more to prune.` : "";
  const memo = memoTokens === undefined ? "" : ` Your memo stands in their place (${memoTokens} tokens).`;
  return `Reclaimed ${tokens} tokens: ${messages} messages leave your context with your next answer.${memo}${short}`;
}

function revert({ answer, atHand, entries }: ViewCall, value: unknown): ViewAnswer {
  const { category, step, summary } = value as z.infer<typeof RevertArguments>;
  const request = chooseRevert(atHand, entries, answer, {
    category,
    step,
    ...(summary === undefined || summary.trim() === ""
      ? {}
      : { summary: shownBriefly(summary, SUMMARY_BYTES) }),
  });
  if (!request.applied) {
    const reason = shownBriefly(request.reason, REASON_BYTES);
    return { ...told(`Not reverted: ${reason}.`, true), request: { ...request, reason } };
  }
  return { ...told(`You go on from ${labelOf(request.target)} with your next answer.`, false), request };
}

function told(text: string, isError: boolean): ViewAnswer {
  return { output: { content: [{ type: "text", text }] }, isError, outcomeUnknown: false };
}
