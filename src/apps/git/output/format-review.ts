import type { Finding } from "../artifacts/review.ts";
import { toVisibleName, toVisibleText } from "../text/visible-text.ts";
import {
  countFindings,
  describeVerdict,
  formatCost,
  type ReviewReport,
  sortFindings,
} from "./review-report.ts";

/** What a part of a review is, for its colour. */
export type ReviewStyle = Finding["severity"] | "heading" | "detail";

type Paint = (style: ReviewStyle, text: string) => string;

/**
 * Writes a review for a terminal. Everything that a model or a repository has written is made visible.
 *
 * @param paint - Colours a part; by default none has a colour.
 */
export function formatReviewText(report: ReviewReport, paint: Paint = (_, text) => text): string {
  const { review, coverage, dropped = [], critic, costUsd } = report;
  const { base, head, risk } = review.metadata;
  const range = [base, head].flatMap((end) => (end === null ? [] : [toVisibleName(end)])).join("..");
  const facts = [
    countFindings(review.findings),
    ...(coverage === undefined ? [] : [toVisibleText(coverage)]),
    ...describeDropped(dropped),
    ...(critic === undefined ? [] : [toVisibleText(describeVerdict(critic)), ...listIssues(critic)]),
    ...(costUsd === undefined ? [] : [`Cost: ${formatCost(costUsd)}`]),
  ];
  return `${[
    paint("heading", `Review${range === "" ? "" : ` of ${range}`}, risk ${risk}`),
    toVisibleText(review.summary.trim()),
    ...sortFindings(review.findings).map((finding) => formatFinding(finding, paint)),
    facts.join("\n"),
  ].join("\n\n")}\n`;
}

function formatFinding(finding: Finding, paint: Paint): string {
  const { id, severity, confidence, category, body, suggested_fix, evidence } = finding;
  const heading = [paint(severity, severity), paint("heading", formatPlace(finding)), category];
  return [
    `${heading.join("  ")}  ${paint("detail", `${confidence} %  ${toVisibleName(id)}`)}`,
    indent(body.trim()),
    ...(suggested_fix === null ? [] : ["  Fix:", indent(suggested_fix.trimEnd(), "    ")]),
    ...(evidence.length === 0
      ? []
      : [paint("detail", `  Evidence: ${evidence.map(toVisibleName).join(", ")}`)]),
  ].join("\n");
}

function formatPlace({ file, start_line, end_line }: Finding): string {
  return `${toVisibleName(file)}:${start_line}${end_line === start_line ? "" : `-${end_line}`}`;
}

function indent(text: string, by = "  "): string {
  return toVisibleText(text)
    .split("\n")
    .map((line) => (line === "" ? "" : `${by}${line}`))
    .join("\n");
}

function describeDropped(dropped: NonNullable<ReviewReport["dropped"]>): readonly string[] {
  if (dropped.length === 0) return [];
  const count = dropped.length === 1 ? "1 finding" : `${dropped.length} findings`;
  const reasons = dropped.map(({ claim, problems }) => `${toVisibleName(claim.id)}: ${problems.join(" ")}`);
  return [`${count} dropped, because the evidence fails:`, ...reasons.map((reason) => indent(reason))];
}

function listIssues(critic: NonNullable<ReviewReport["critic"]>): readonly string[] {
  if (critic.type === "failed") return [];
  return critic.critique.issues.map(({ severity, title }) => indent(`${severity}: ${title}`));
}
