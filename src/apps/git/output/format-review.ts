import type { Finding } from "../artifacts/review.ts";
import { toVisibleName, toVisibleText } from "../text/visible-text.ts";
import {
  countFindings,
  describeVerdict,
  formatCost,
  type ReviewReport,
  sortFindings,
} from "./review-report.ts";

const COLOURS: Readonly<Record<Finding["severity"] | "bold" | "faint", string>> = {
  critical: "1;31",
  high: "31",
  medium: "33",
  low: "36",
  info: "2",
  bold: "1",
  faint: "2",
};

type Paint = (style: keyof typeof COLOURS, text: string) => string;

/** Writes a review for a terminal. Everything that a model or a repository has written is made visible. */
export function formatReviewText(
  report: ReviewReport,
  { isColoured = false }: { readonly isColoured?: boolean } = {},
): string {
  const paint: Paint = (style, text) => (isColoured ? `\x1b[${COLOURS[style]}m${text}\x1b[0m` : text);
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
    paint("bold", `Review${range === "" ? "" : ` of ${range}`}, risk ${risk}`),
    toVisibleText(review.summary.trim()),
    ...sortFindings(review.findings).map((finding) => formatFinding(finding, paint)),
    facts.join("\n"),
  ].join("\n\n")}\n`;
}

function formatFinding(finding: Finding, paint: Paint): string {
  const { id, severity, confidence, category, body, suggested_fix, evidence } = finding;
  const heading = [paint(severity, severity), paint("bold", formatPlace(finding)), category];
  return [
    `${heading.join("  ")}  ${paint("faint", `${confidence} %  ${toVisibleName(id)}`)}`,
    indent(body.trim()),
    ...(suggested_fix === null ? [] : ["  Fix:", indent(suggested_fix.trimEnd(), "    ")]),
    ...(evidence.length === 0
      ? []
      : [paint("faint", `  Evidence: ${evidence.map(toVisibleName).join(", ")}`)]),
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
