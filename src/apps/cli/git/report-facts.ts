import { toVisibleText } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { describeCost, formatCount, shortenText } from "../text.ts";
import type { Made } from "./carry-out.ts";

const MAX_CHARS = 160;

/** Reports how a result came about: what was examined, which sub-agents are lost, what was dropped, the verdict, the cost. */
export function reportFacts(context: Context, made: Made, exitCode: number): void {
  if (context.json) {
    const { type: _, ...facts } = made;
    context.printJson({ type: "result", ...facts, exitCode });
    return;
  }
  const { err } = context;
  const { coverage, delegations, evidence, verdict, isRevised, repairs, costUsd, turns, session } = made;
  const warn = (text: string) => context.report(err.yellow(shortenText(toVisibleText(text), MAX_CHARS)));
  if (coverage !== undefined) context.report(err.dim(`${coverage.sentence}.`));
  for (const { name, task, status, reason } of delegations)
    if (status !== "ended") warn(`The sub-agent ${name} is ${status}: ${reason}. Its task: ${task}`);
  if (evidence !== undefined && evidence.dropped.length > 0) {
    warn(`${formatCount(evidence.dropped.length, "claim")} dropped, because the evidence fails:`);
    for (const { claim, problems } of evidence.dropped) warn(`  ${claim} (${problems.join(" ")})`);
  }
  if (verdict?.type === "failed") warn(`The critic has failed: ${verdict.reason}`);
  if (verdict?.type === "judged" && verdict.critique.requires_revision)
    context.report(
      err.dim(
        isRevised
          ? `Revised once for the critic (${formatCount(verdict.critique.issues.length, "issue")}); its verdict: holdfast show ${verdict.session}`
          : `The critic wants a revision, which was not made; its verdict: holdfast show ${verdict.session}`,
      ),
    );
  if (repairs !== undefined) context.report(err.dim(`The output was repaired: ${repairs.join("; ")}`));
  context.report(err.dim(`${formatCount(turns, "turn")} · ${describeCost(costUsd)} · session ${session}`));
}
