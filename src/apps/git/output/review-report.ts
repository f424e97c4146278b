import type { Critique } from "../artifacts/critique.ts";
import type { Finding, Review } from "../artifacts/review.ts";

/** A review with what is known about how it came to be. */
export type ReviewReport = {
  readonly review: Review;
  /** The sentence of the coverage ledger. */
  readonly coverage?: string;
  /** Findings whose evidence fails, with the reasons. */
  readonly dropped?: readonly { readonly claim: Finding; readonly problems: readonly string[] }[];
  readonly critic?: CriticVerdict;
  readonly costUsd?: number;
};

/** What the critic says of the review as it is shown; `failed`: it has said nothing. */
export type CriticVerdict =
  | { readonly type: "critique"; readonly critique: Critique; readonly wasRegenerated: boolean }
  | { readonly type: "failed"; readonly reason: string };

const SEVERITIES = [
  "critical",
  "high",
  "medium",
  "low",
  "info",
] as const satisfies readonly Finding["severity"][];

/** Returns the findings with the most severe first; equal ones keep their order. */
export function sortFindings(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

/** "3 findings: 1 critical, 2 low" */
export function countFindings(findings: readonly Finding[]): string {
  if (findings.length === 0) return "No findings";
  const counts = SEVERITIES.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}`];
  });
  return `${findings.length} ${findings.length === 1 ? "finding" : "findings"}: ${counts.join(", ")}`;
}

/** Returns the findings that fail a check: those that are as severe as `failOn`, or more. */
export function listFailing(findings: readonly Finding[], failOn: Finding["severity"]): readonly Finding[] {
  const limit = SEVERITIES.indexOf(failOn);
  return findings.filter(({ severity }) => SEVERITIES.indexOf(severity) <= limit);
}

/** Describes the critic's verdict, as a sentence. */
export function describeVerdict(verdict: CriticVerdict): string {
  if (verdict.type === "failed")
    return `The critic has failed, so that nobody has checked the review: ${verdict.reason}`;
  const { critique, wasRegenerated } = verdict;
  const { requires_revision, issues, confidence } = critique;
  const judged = requires_revision ? "The critic asks for a revision" : "The critic accepts the review";
  const noted =
    issues.length === 0 ? "" : `, and names ${issues.length === 1 ? "1 issue" : `${issues.length} issues`}`;
  return `${judged} (${confidence} % sure)${noted}${wasRegenerated ? "; it was written anew once" : ""}.`;
}

export function formatCost(costUsd: number): string {
  return `$${costUsd.toFixed(costUsd < 0.1 ? 4 : 2)}`;
}
