import type { Finding } from "../artifacts/review.ts";
import { escapeMarkdown, toCode, toCodeBlock } from "./markdown-text.ts";
import {
  countFindings,
  describeVerdict,
  formatCost,
  type ReviewReport,
  sortFindings,
} from "./review-report.ts";

/** Writes a review as Markdown. What a model or a repository has written is shown as it is, never interpreted. */
export function formatReviewMarkdown(report: ReviewReport): string {
  const { review, coverage, dropped = [], critic, costUsd } = report;
  const { base, head, risk } = review.metadata;
  const range = [base, head].flatMap((end) => (end === null ? [] : [toCode(end)])).join("..");
  const facts = [
    countFindings(review.findings),
    ...(coverage === undefined ? [] : [escapeMarkdown(toLine(coverage))]),
    ...(critic === undefined ? [] : [escapeMarkdown(toLine(describeVerdict(critic)))]),
    ...(costUsd === undefined ? [] : [`Cost: ${escapeMarkdown(formatCost(costUsd))}`]),
  ];
  return `${[
    `## Review${range === "" ? "" : ` of ${range}`}`,
    `Risk: ${risk}`,
    escapeMarkdown(review.summary.trim()),
    ...sortFindings(review.findings).map(formatFinding),
    ...(dropped.length === 0 ? [] : [`### Dropped, because the evidence fails`, formatDropped(dropped)]),
    "---",
    facts.map((fact) => `- ${fact}`).join("\n"),
  ].join("\n\n")}\n`;
}

function formatFinding(finding: Finding): string {
  const { id, severity, confidence, category, body, suggested_fix, evidence } = finding;
  return [
    `### ${severity}: ${toCode(formatPlace(finding))}`,
    `${escapeMarkdown(category)}, ${confidence} % sure, ${toCode(id)}`,
    escapeMarkdown(body.trim()),
    ...(suggested_fix === null ? [] : ["Suggested fix:", toCodeBlock(suggested_fix)]),
    ...(evidence.length === 0 ? [] : [`Evidence: ${evidence.map(toCode).join(", ")}`]),
  ].join("\n\n");
}

function formatPlace({ file, start_line, end_line }: Finding): string {
  return `${file}:${start_line}${end_line === start_line ? "" : `-${end_line}`}`;
}

function formatDropped(dropped: NonNullable<ReviewReport["dropped"]>): string {
  return dropped
    .map(({ claim, problems }) => `- ${toCode(claim.id)}: ${escapeMarkdown(toLine(problems.join(" ")))}`)
    .join("\n");
}

/** A list item is one line. */
function toLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}
