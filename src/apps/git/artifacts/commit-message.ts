import { z } from "zod";

/** What the capability `commit` writes. */
export const CommitMessage = z.strictObject({
  emoji: z.string().nullable().default(null).describe("A gitmoji, or null where none is wanted"),
  title: z.string().min(1).describe("The subject line, in the imperative, at most 72 characters"),
  message: z.string().default("").describe("The body; empty if the title says everything"),
  completion_message: z
    .string()
    .nullable()
    .default(null)
    .describe("One sentence for the user when it is done"),
});
export type CommitMessage = z.infer<typeof CommitMessage>;
