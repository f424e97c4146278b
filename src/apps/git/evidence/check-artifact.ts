import type { Artifact } from "../artifacts/read-artifact.ts";
import type { Finding } from "../artifacts/review.ts";
import { checkMarkdown } from "./check-markdown.ts";
import { checkReview } from "./check-review.ts";
import type { EvidenceReader } from "./evidence-reader.ts";

/** What the evidence check has found. Nobody sees what it dropped as a part of the artifact. */
export type EvidenceReport = {
  readonly references: number;
  readonly dropped: readonly {
    readonly claim: string;
    /** The claim of a review. */
    readonly finding?: Finding;
    readonly problems: readonly string[];
  }[];
};

export type CheckedArtifact = {
  /** Without the claims whose evidence fails. References are still in it. */
  readonly artifact: Artifact;
  /** Absent for an artifact that makes no claims with evidence. */
  readonly evidence?: EvidenceReport;
};

/** Checks the evidence of an artifact without a model, and drops what does not hold. */
export async function checkArtifact(artifact: Artifact, reader: EvidenceReader): Promise<CheckedArtifact> {
  switch (artifact.type) {
    case "Review": {
      const { review, findings } = await checkReview(artifact.value, reader);
      const dropped = findings.dropped.map(({ claim, problems }) => ({
        claim: `${claim.id}: ${claim.file}:${claim.start_line} ${claim.body}`,
        finding: claim,
        problems,
      }));
      const evidence = { references: findings.references, dropped };
      return { artifact: { type: "Review", value: review }, evidence };
    }
    case "MarkdownPullRequest":
    case "MarkdownChangelog":
    case "MarkdownReleaseNotes": {
      const { content, claims } = await checkMarkdown(artifact.value.content, reader);
      const evidence = { references: claims.references, dropped: claims.dropped };
      return { artifact: { type: artifact.type, value: { content } }, evidence };
    }
    default:
      return { artifact };
  }
}
