import {
  buildSarif,
  type CriticVerdict,
  createGitEvidenceReader,
  formatReviewMarkdown,
  formatReviewText,
  type Review,
  type ReviewReport,
  type ReviewStyle,
  STAGED,
  withRepository,
} from "../../git/index.ts";
import { readPackageVersion } from "../package-version.ts";
import type { Palette } from "../palette.ts";
import type { Made } from "./carry-out.ts";
import { describeLostAgents } from "./lost-agents.ts";
import type { GitSite } from "./open-git.ts";

export const REVIEW_FORMATS: readonly string[] = ["text", "markdown", "json", "sarif"];

/** Formats a review. A result that is none, because the agent has answered with something else, is printed as JSON. */
export async function formatReview(site: GitSite, made: Made, format: string): Promise<string> {
  const { artifact } = made;
  if (format === "json" || artifact.type !== "Review") return JSON.stringify(artifact.value, null, 2);
  const report = buildReport(made, artifact.value);
  if (format === "markdown") return formatReviewMarkdown(report);
  if (format === "sarif") return JSON.stringify(await buildLog(site, report), null, 2);
  return formatReviewText(report, createPaint(site.context.out));
}

function createPaint({
  bold,
  cyan,
  dim,
  red,
  yellow,
}: Palette): (style: ReviewStyle, text: string) => string {
  const paints: Readonly<Record<ReviewStyle, (text: string) => string>> = {
    critical: (text) => bold(red(text)),
    ...{ high: red, medium: yellow, low: cyan, info: dim, heading: bold, detail: dim },
  };
  return (style, text) => paints[style](text);
}

function buildReport(made: Made, review: Review): ReviewReport {
  const { coverage, delegations, evidence, costUsd } = made;
  const dropped = (evidence?.dropped ?? []).flatMap(({ finding, problems }) =>
    finding === undefined ? [] : [{ claim: finding, problems }],
  );
  const critic = toCriticVerdict(made);
  const sentences = [
    ...(coverage === undefined ? [] : [`${coverage.sentence}.`]),
    ...describeLostAgents(delegations),
  ];
  return {
    review,
    ...(sentences.length === 0 ? {} : { coverage: sentences.join("\n") }),
    dropped,
    ...(critic === undefined ? {} : { critic }),
    ...(costUsd === null ? {} : { costUsd }),
  };
}

function toCriticVerdict({ verdict, isRevised }: Made): CriticVerdict | undefined {
  if (verdict === undefined) return undefined;
  if (verdict.type === "failed") return { type: "failed", reason: verdict.reason };
  return { type: "critique", critique: verdict.critique, wasRegenerated: isRevised };
}

/** Builds the SARIF log. The text of the lines makes the fingerprints of findings. */
async function buildLog({ repository, isTrusted, index }: GitSite, report: ReviewReport) {
  const { findings, metadata } = report.review;
  const commit = metadata.head ?? STAGED;
  const texts = await withRepository(repository, { isTrusted, index }, async (opened) => {
    const reader = createGitEvidenceReader(opened);
    const files = findings.map(async ({ file, start_line, end_line, id }) => {
      const read = await reader.readFile(commit, file);
      const lines = read.type === "text" ? read.lines.slice(start_line - 1, end_line).join("\n") : undefined;
      return [id, lines] as const;
    });
    return new Map(await Promise.all(files));
  });
  return buildSarif(report, { version: readPackageVersion(), readLines: ({ id }) => texts.get(id) });
}
