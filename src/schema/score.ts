import { z } from "zod";

/**
 * How a score came about. `scored`: it has a value. `unreadable`: the judge's verdict could not be read. `failed`: the scorer
 * itself failed. `unscorable`: what it needs is not there, such as an expected value or a workspace.
 */
export const ScoreClass = z.enum(["scored", "unreadable", "failed", "unscorable"]);
export type ScoreClass = z.infer<typeof ScoreClass>;

/** The score of one cell by one scorer. */
export const Score = z.strictObject({
  class: ScoreClass.describe("How the score came about."),
  value: z.number().nullable().describe("The score; `null` unless the class is `scored`."),
  passed: z.boolean().optional().describe("Present for scorers that tell success from failure."),
  explanation: z.string().optional().describe("Why; at most 500 characters."),
  points: z.record(z.string(), z.number()).optional().describe("The points of a rubric, by id."),
  costUsd: z.number().nullable().optional().describe("What the scorer's own model calls have cost."),
});
export type Score = z.infer<typeof Score>;
