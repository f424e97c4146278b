import { z } from "zod";

/** How long sessions are retained, of all agents or of one. A session is deleted when one of its rules applies. */
export const RetentionRule = z.strictObject({
  /** The agent's name; all agents by default. */
  agent: z.string().min(1).optional(),
  /** Deletes sessions without activity for this many days. */
  maxAgeDays: z.number().positive().optional(),
  /** Deletes sessions beyond this number, counted from the newest. */
  maxSessions: z.number().int().nonnegative().optional(),
  /** Deletes sessions beyond this many bytes of messages, counted from the newest. */
  maxBytes: z.number().int().nonnegative().optional(),
});
export type RetentionRule = z.infer<typeof RetentionRule>;

/** Which sessions are deleted. */
export const RetentionPolicy = z.strictObject({
  /** The rules; at most 100. */
  rules: z.array(RetentionRule).min(1).max(100),
});
export type RetentionPolicy = z.infer<typeof RetentionPolicy>;
