import { z } from "zod";
import { EvidenceReference } from "./evidence-reference.ts";

export const Severity = z.enum(["critical", "high", "medium", "low", "info"]);
export type Severity = z.infer<typeof Severity>;

const FindingCategory = z.enum([
  "security",
  "correctness",
  "error_handling",
  "concurrency",
  "performance",
  "data_loss",
  "api_contract",
  "complexity",
  "duplication",
  "testing",
  "documentation",
  "style",
]);

const LineNumber = z.number().int().min(1);

/** One problem of the change, with where it can be checked. */
export const Finding = z.strictObject({
  id: z.string().min(1).describe("Unique within the review"),
  severity: Severity,
  confidence: z.number().int().min(0).max(100).describe("In percent"),
  file: z.string().min(1).describe("The path within the repository"),
  start_line: LineNumber,
  end_line: LineNumber,
  category: FindingCategory,
  body: z.string().min(1).describe("What is wrong, and what follows from it"),
  suggested_fix: z.string().nullable().default(null),
  evidence: z.array(EvidenceReference).default([]),
});
export type Finding = z.infer<typeof Finding>;

const ReviewMetadata = z.strictObject({
  base: z.string().nullable().default(null).describe("The commit that the change is compared with"),
  head: z.string().nullable().default(null).describe("The commit under review; null for staged changes"),
  risk: z.enum(["low", "medium", "high"]).default("low"),
});

const ReviewStats = z.strictObject({
  files_reviewed: z.number().int().min(0).default(0),
  hunks_reviewed: z.number().int().min(0).default(0),
  is_complete: z.boolean().default(false).describe("Every hunk of the change was read"),
});

/** What the capability `review` writes. */
export const Review = z.strictObject({
  summary: z.string().min(1),
  metadata: ReviewMetadata.prefault({}),
  findings: z.array(Finding),
  stats: ReviewStats.prefault({}),
});
export type Review = z.infer<typeof Review>;
