import type { BranchOutcome, BranchStatus } from "../../core/evaluation/branch-outcome.ts";
import {
  buildDecision,
  buildFallbackDecision,
  type Decision,
  filterUsable,
} from "../../core/evaluation/decision.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import { redact } from "../../platform/text/redact.ts";

/** How much of a judge's words the decision repeats, in bytes: it travels where texts do not. */
const MAX_REPEATED_BYTES = 160;

/** How the judge's own loop ended, with the text of its last answer. */
export type JudgeReply = { readonly status: BranchStatus; readonly text: string };

/** Indices of the branches that the judge compares: response N of its prompt is the Nth of them. */
export function listJudgedBranches(outcomes: readonly BranchOutcome[]): readonly number[] {
  return filterUsable(outcomes).map(({ index }) => index);
}

/** The decision where there is nothing to compare, so that no judge is paid; nothing where a judge must be asked. */
export function decideWithoutJudge(outcomes: readonly BranchOutcome[]): Decision | undefined {
  const usable = filterUsable(outcomes);
  const [only] = usable;
  if (only === undefined)
    return buildFallbackDecision(outcomes, "No branch answered, so the judge was not called.");
  if (usable.length > 1) return undefined;
  const reason = `Branch ${only.index + 1} is the only one that answered, so the judge was not called.`;
  return buildDecision(outcomes, only.index, reason);
}

/** A judge that did not answer, or answered without the number of a response, leaves it to the fallback (GAP-10). */
export function parseJudgeReply(outcomes: readonly BranchOutcome[], { status, text }: JudgeReply): Decision {
  if (status.type !== "answered") {
    return buildFallbackDecision(
      outcomes,
      `The judge gave no answer (${status.type}): ${quoteReply(status.reason)}`,
    );
  }
  const judged = listJudgedBranches(outcomes);
  const number = findFirstInteger(text);
  const selected = number === undefined ? undefined : judged[number - 1];
  if (selected !== undefined) {
    const asked = selected + 1 === number ? "" : ` as response ${number}`;
    return buildDecision(outcomes, selected, `The judge chose branch ${selected + 1}${asked}.`);
  }
  const quoted = truncateForPreview(redact(text), MAX_REPEATED_BYTES);
  return buildFallbackDecision(
    outcomes,
    `The judge replied "${quoted}" instead of a number from 1 to ${judged.length}.`,
  );
}

function quoteReply(text: string): string {
  return truncateForPreview(redact(text), MAX_REPEATED_BYTES);
}

/** PAR-08. A minus is a sign only where no word ends before it: "Response-2" gives 2. */
export function findFirstInteger(reply: string): number | undefined {
  const found = /(?<!\w)-\d+|\d+/.exec(reply);
  return found === null ? undefined : Number(found[0]);
}
