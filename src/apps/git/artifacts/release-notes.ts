import { z } from "zod";

/** What the capability `release_notes` writes. */
export const ReleaseNotes = z.strictObject({
  content: z.string().min(1).describe("The notes for users of the release, as Markdown"),
});
export type ReleaseNotes = z.infer<typeof ReleaseNotes>;
