import { z } from "zod";

// What happens when a vendor does not answer, or a model goes wrong.

const positive = z.number().int().positive();
const count = z.number().int().nonnegative();

/** How a call to a slow, busy or unreachable vendor is retried. Defaults: RTY-01. */
export const RetryConfig = z.strictObject({
  maxRetries: count
    .max(100)
    .default(3)
    .describe("How often a request to a slow, busy or unreachable vendor is retried; 0 for never."),
  initialDelayMs: positive.default(1000).describe("The delay before the first retry, in milliseconds."),
  backoffMultiplier: z
    .number()
    .min(1)
    .default(2)
    .describe("The factor by which each delay is longer than the one before."),
  maxDelayMs: positive.default(30_000).describe("The longest delay between two retries, in milliseconds."),
  maxWaitMs: positive
    .optional()
    .describe(
      "When a vendor asks for a longer delay, it is called again after this time; 15 minutes by default.",
    ),
});
export type RetryConfig = z.infer<typeof RetryConfig>;

/** How a model is reminded that it announced a tool call but made none. Defaults: IRON-02. */
export const NudgeSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether a model that announces a tool call and makes none gets a reminder."),
  max: count
    .default(2)
    .describe(
      "The maximum number of consecutive reminders; the next text that announces a call is an answer like any other.",
    ),
});
export type NudgeSettings = z.infer<typeof NudgeSettings>;

/** What happens when a model repeats a call that fails in the same way; see docs/loop.md. */
export const RepeatSettings = z.strictObject({
  warnAfter: z
    .number()
    .int()
    .min(1)
    .default(5)
    .describe(
      "The number of answers with the same failed call after which the model gets an explicit warning.",
    ),
  endAfter: z
    .number()
    .int()
    .min(1)
    .nullable()
    .default(8)
    .describe("The number after which the loop ends or the user is asked; `null` lets the model continue."),
  action: z
    .enum(["end", "ask"])
    .default("end")
    .describe("What happens then: the loop ends, or with `ask` the user decides whether it continues."),
});
export type RepeatSettings = z.infer<typeof RepeatSettings>;

/** How long the model sees what it left behind when it went back. Defaults: PHI-02. */
export const RevertSettings = z.strictObject({
  shownForTurns: count
    .max(100)
    .default(5)
    .describe("The number of turns for which a lesson or a finding is visible."),
  newestOfKind: count
    .max(20)
    .default(3)
    .describe(
      "The number of newest ones of each kind that stay visible at any age; at most 20, so that a run's state stays small.",
    ),
});
export type RevertSettings = z.infer<typeof RevertSettings>;
