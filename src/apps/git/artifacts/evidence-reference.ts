import { z } from "zod";

/** Where a claim can be checked. */
export const EvidenceReference = z
  .string()
  .min(1)
  .describe(
    "commit:path:lines, such as 1a2b3c4:src/main.ts:10-12; the symbol in question after a #, as in ...:10-12#parse",
  );
