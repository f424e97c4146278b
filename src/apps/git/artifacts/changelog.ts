import { z } from "zod";

/** What the capability `changelog` writes. */
export const Changelog = z.strictObject({
  content: z.string().min(1).describe("The entries under Keep-a-Changelog headings, as Markdown"),
});
export type Changelog = z.infer<typeof Changelog>;
