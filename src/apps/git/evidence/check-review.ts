import type { Finding, Review } from "../artifacts/review.ts";
import { type CheckedClaims, checkClaims } from "./check-claims.ts";
import type { EvidenceReader } from "./evidence-reader.ts";

export type CheckedReview = {
  /** The review without the findings whose evidence fails. */
  readonly review: Review;
  readonly findings: CheckedClaims<Finding>;
};

/** Drops the findings whose evidence fails, or that have none, before a person sees them. */
export async function checkReview(review: Review, reader: EvidenceReader): Promise<CheckedReview> {
  const findings = await checkClaims(review.findings, ({ evidence }) => evidence, reader);
  return { review: { ...review, findings: [...findings.held] }, findings };
}
