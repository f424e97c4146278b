import { z } from "zod";

/** The requests of one worker to a vendor with one key. An absent limit does not apply. */
export const VendorLimits = z.strictObject({
  /** Requests in flight at the same time. */
  concurrent: z.number().int().positive().optional(),
  /** In any 60 seconds. */
  requestsPerMinute: z.number().int().positive().optional(),
  /** In any 60 seconds: uncached tokens of requests, and tokens of answers. */
  tokensPerMinute: z.number().int().positive().optional(),
});
export type VendorLimits = z.infer<typeof VendorLimits>;

/** By the vendor's name, as in a definition's `provider`; `default` for all others. */
export const WorkerLimits = z.record(z.string(), VendorLimits);
export type WorkerLimits = z.infer<typeof WorkerLimits>;
