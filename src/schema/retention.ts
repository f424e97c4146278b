import { z } from "zod";

/** How long sessions are kept: of all agents, or of one. A session goes when one of its rules says so. */
export const RetentionRule = z.strictObject({
  /** The agent's name; of all agents unless said. */
  agent: z.string().min(1).optional(),
  /** Without activity for so many days. */
  maxAgeDays: z.number().positive().optional(),
  /** Beyond so many, the newest counted first. */
  maxSessions: z.number().int().nonnegative().optional(),
  /** Beyond so many bytes of messages, the newest counted first. */
  maxBytes: z.number().int().nonnegative().optional(),
});
export type RetentionRule = z.infer<typeof RetentionRule>;

export const RetentionPolicy = z.strictObject({ rules: z.array(RetentionRule).min(1).max(100) });
export type RetentionPolicy = z.infer<typeof RetentionPolicy>;
