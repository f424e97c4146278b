import { z } from "zod";

/** What the capability `chat` writes. */
export const PlainText = z.strictObject({
  text: z.string().min(1).describe("The answer to the user"),
});
export type PlainText = z.infer<typeof PlainText>;
