import { z } from "zod";

/** Which requests share their stored answers. */
export const AnswerSharing = z.strictObject({
  repetition: z
    .number()
    .int()
    .nonnegative()
    .describe("Requests with the same repetition share their answers; others are asked again."),
  run: z
    .string()
    .min(1)
    .optional()
    .describe("Shares answers only with what has the same name here: with one run of a suite."),
});
export type AnswerSharing = z.infer<typeof AnswerSharing>;
