import { z } from "zod";
import { Severity } from "./review.ts";

const CritiqueIssue = z.strictObject({
  title: z.string().min(1),
  body: z.string(),
  severity: Severity,
});

/** What the internal capability `verify` writes about another capability's artifact. */
export const Critique = z.strictObject({
  requires_revision: z.boolean(),
  issues: z.array(CritiqueIssue).default([]),
  revision_prompt: z.string().default("").describe("What to change; empty if nothing must be changed"),
  confidence: z.number().int().min(0).max(100).describe("In percent"),
});
export type Critique = z.infer<typeof Critique>;
