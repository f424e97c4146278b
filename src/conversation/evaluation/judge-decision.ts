import type { BranchOutcome, BranchStatus } from "../../core/evaluation/branch-outcome.ts";
import {
  buildDecision,
  buildFallbackDecision,
  type Decision,
  filterUsable,
} from "../../core/evaluation/decision.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import { redact } from "../../platform/text/redact.ts";

/** The maximum size in bytes of a judge's reply in the decision, which travels through history. */
const MAX_REPEATED_BYTES = 160;

/** How the judge's own loop ended, with the text of its last answer. */
export type JudgeReply = { readonly status: BranchStatus; readonly text: string };

/** Lists the indices of the branches that the judge compares: response N of its prompt is the Nth of them. */
export function listJudgedBranches(outcomes: readonly BranchOutcome[]): readonly number[] {
  return filterUsable(outcomes).map(({ index }) => index);
}

/** Decides without a judge when there is nothing to compare; returns nothing when a judge must be called. */
export function decideWithoutJudge(outcomes: readonly BranchOutcome[]): Decision | undefined {
  const usable = filterUsable(outcomes);
  const [only] = usable;
  if (only === undefined)
    return buildFallbackDecision(outcomes, "No branch answered, so the judge was not called.");
  if (usable.length > 1) return undefined;
  const reason = `Branch ${only.index + 1} is the only one that answered, so the judge was not called.`;
  return buildDecision(outcomes, only.index, reason);
}

/** Reads a judge's reply. Without an answer, or the number of a response in it, the fallback decides (GAP-10). */
export function parseJudgeReply(outcomes: readonly BranchOutcome[], { status, text }: JudgeReply): Decision {
  if (status.type !== "answered") {
    return buildFallbackDecision(
      outcomes,
      `The judge gave no answer (${status.type}): ${quoteReply(status.reason)}`,
    );
  }
  const judged = listJudgedBranches(outcomes);
  const number = findFirstInteger(text);
  const selected = judged[(number ?? 0) - 1];
  if (selected !== undefined) {
    const asked = selected + 1 === number ? "" : ` as response ${number}`;
    return buildDecision(outcomes, selected, `The judge chose branch ${selected + 1}${asked}.`);
  }
  return buildFallbackDecision(
    outcomes,
    `The judge replied "${quoteReply(text)}" instead of a number from 1 to ${judged.length}.`,
  );
}

function quoteReply(text: string): string {
  return truncateForPreview(redact(text), MAX_REPEATED_BYTES);
}

/** Finds the first integer (PAR-08). A minus after a word is not a sign: "Response-2" gives 2. */
export function findFirstInteger(reply: string): number | undefined {
  const found = /(?<!\w)-\d+|\d+/.exec(reply);
  return found === null ? undefined : Number(found[0]);
}
