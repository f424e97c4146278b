import { z } from "zod";

/** What the capability `semantic_blame` writes. */
export const SemanticBlame = z.strictObject({
  text: z.string().min(1).describe("Why these lines are as they are, with the commits that made them so"),
});
export type SemanticBlame = z.infer<typeof SemanticBlame>;
