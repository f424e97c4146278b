import { z } from "zod";

/** What the capability `pr` writes. */
export const PullRequest = z.strictObject({
  content: z
    .string()
    .min(1)
    .describe("The title, and what the change does, why, and how it was tested, as Markdown"),
});
export type PullRequest = z.infer<typeof PullRequest>;
