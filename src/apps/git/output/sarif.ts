import { createHash } from "node:crypto";
import type { Finding } from "../artifacts/review.ts";
import { toVisibleText } from "../text/visible-text.ts";
import type { ReviewReport } from "./review-report.ts";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/** Paths count from the root of the repository. */
const ROOT = "%SRCROOT%";

const LEVELS: Readonly<Record<Finding["severity"], "error" | "warning" | "note">> = {
  critical: "error",
  high: "error",
  medium: "warning",
  low: "note",
  info: "note",
};

export type SarifOptions = {
  /** The version of Holdfast. */
  readonly version: string;
  /**
   * Returns the text of the lines that a finding names. With it, a finding keeps its fingerprint when its lines move; their
   * numbers count otherwise.
   */
  readonly readLines?: (finding: Finding) => string | undefined;
};

/** Builds a log of SARIF 2.1.0, which code scanning services read. */
export function buildSarif({ review, coverage, critic }: ReviewReport, { version, readLines }: SarifOptions) {
  const { findings, metadata } = review;
  const rules = [...new Set(findings.map(({ category }) => category))].toSorted();
  const fingerprints = printFindings(findings, readLines);
  const results = findings.map((finding, at) => ({
    ruleId: finding.category,
    ruleIndex: rules.indexOf(finding.category),
    level: LEVELS[finding.severity],
    message: { text: toVisibleText(describe(finding)) },
    locations: locate(finding),
    partialFingerprints: { "holdfastFinding/v1": fingerprints[at] ?? "" },
    rank: finding.confidence,
    properties: { id: finding.id, severity: finding.severity, evidence: finding.evidence },
  }));
  const driver = {
    name: "Holdfast",
    version,
    rules: rules.map((id) => ({ id, shortDescription: { text: describeRule(id) } })),
  };
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [
      {
        tool: { driver },
        columnKind: "utf16CodeUnits",
        originalUriBaseIds: { [ROOT]: { description: { text: "The root of the repository." } } },
        results,
        properties: {
          summary: toVisibleText(review.summary),
          base: metadata.base,
          head: metadata.head,
          ...(coverage === undefined ? {} : { coverage }),
          ...(critic === undefined ? {} : { critic }),
        },
      },
    ],
  };
}

function describe({ body, suggested_fix }: Finding): string {
  return suggested_fix === null ? body : `${body}\n\nSuggested fix:\n${suggested_fix}`;
}

function describeRule(category: string): string {
  const words = category.replace(/_/g, " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** A model has written the path: one that leaves the repository is no location. */
function locate({ file, start_line, end_line }: Finding) {
  const steps = file.split("/");
  if (steps.some((step) => ["", ".", ".."].includes(step))) return [];
  // Through bytes: half of a surrogate pair cannot be encoded.
  const uri = steps.map((step) => encodeURIComponent(Buffer.from(step).toString())).join("/");
  const region = { startLine: start_line, endLine: Math.max(start_line, end_line) };
  return [{ physicalLocation: { artifactLocation: { uri, uriBaseId: ROOT }, region } }];
}

/**
 * Returns a fingerprint of each finding, which is the same in the next run: the model's own words and ids are left out, as
 * it writes others each time. Findings that are equal in the rest are numbered.
 */
function printFindings(
  findings: readonly Finding[],
  readLines: SarifOptions["readLines"],
): readonly string[] {
  const seen = new Map<string, number>();
  return findings.map((finding) => {
    const { category, file, start_line } = finding;
    const lines = readLines?.(finding)?.replace(/\s+/g, " ").trim();
    const place = lines === undefined || lines === "" ? `line ${start_line}` : `text ${lines}`;
    const hash = createHash("sha256")
      .update(JSON.stringify([category, file, place]))
      .digest("hex")
      .slice(0, 32);
    const count = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, count);
    return `${hash}:${count}`;
  });
}
