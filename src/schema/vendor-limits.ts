import { z } from "zod";

/** What one worker asks of a vendor with one key. What is absent has no limit. */
export const VendorLimits = z.strictObject({
  /** Questions under way at once. */
  concurrent: z.number().int().positive().optional(),
  /** In any 60 seconds. */
  requestsPerMinute: z.number().int().positive().optional(),
  /** In any 60 seconds: of questions without what was cached, and of answers. */
  tokensPerMinute: z.number().int().positive().optional(),
});
export type VendorLimits = z.infer<typeof VendorLimits>;

/** By the vendor's name, as definitions have it in `provider`; `default` for all that are not named. */
export const WorkerLimits = z.record(z.string(), VendorLimits);
export type WorkerLimits = z.infer<typeof WorkerLimits>;
