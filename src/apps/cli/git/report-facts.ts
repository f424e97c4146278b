import { toVisibleText } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { describeCost, formatCount, shortenText } from "../text.ts";
import type { Made } from "./carry-out.ts";
import { describeLostAgents } from "./lost-agents.ts";

const MAX_CHARS = 160;

/**
 * Reports how a result came about: what was examined, which sub-agents are lost, what was dropped, the verdict, the cost.
 *
 * @param isShown - The result that was printed says so itself.
 */
export function reportFacts(context: Context, made: Made, exitCode: number, isShown: boolean): void {
  if (context.json) {
    const { type: _, ...facts } = made;
    context.printJson({ type: "result", ...facts, exitCode });
    return;
  }
  const { err } = context;
  const { repairs, costUsd, turns, session } = made;
  if (made.isUnstructured)
    context.report(err.yellow("The agent has not answered in the required form; this is its text."));
  if (!isShown) reportChecks(context, made);
  if (repairs !== undefined) context.report(err.dim(`The output was repaired: ${repairs.join("; ")}`));
  context.report(err.dim(`${formatCount(turns, "turn")} · ${describeCost(costUsd)} · session ${session}`));
}

function reportChecks(context: Context, { coverage, delegations, evidence, verdict, isRevised }: Made): void {
  const { err } = context;
  const warn = (text: string) => context.report(err.yellow(shortenText(toVisibleText(text), MAX_CHARS)));
  if (coverage !== undefined) context.report(err.dim(`${coverage.sentence}.`));
  for (const sentence of describeLostAgents(delegations)) warn(sentence);
  if (evidence !== undefined && evidence.dropped.length > 0) {
    warn(`${formatCount(evidence.dropped.length, "claim")} dropped, because the evidence fails:`);
    for (const { claim, problems } of evidence.dropped) warn(`  ${claim} (${problems.join(" ")})`);
  }
  if (verdict?.type === "failed") warn(`The critic has failed: ${verdict.reason}`);
  if (verdict?.type !== "judged" || !verdict.critique.requires_revision) return;
  const issues = formatCount(verdict.critique.issues.length, "issue");
  const done = isRevised
    ? `Revised once for the critic (${issues})`
    : `The critic's revision was not made (${issues})`;
  context.report(err.dim(`${done}; its verdict: holdfast show ${verdict.session}`));
}
