import { z } from "zod";
import { requireExactlyOne } from "./exactly-one.ts";

/** A filter's decision about a text: one of `pass`, `warn`, `reject`, `throws`. */
const FilterRule = z
  .strictObject({
    /** A part of the text; by default matches every text. */
    contains: z.string().min(1).optional(),
    pass: z.literal(true).optional(),
    warn: z.string().optional(),
    reject: z.string().optional(),
    /** The filter's code throws an error with this message. */
    throws: z.string().optional(),
  })
  .superRefine((rule, context) => requireExactlyOne(rule, ["pass", "warn", "reject", "throws"], context));

/** An input filter: the first matching rule decides; a text that matches no rule passes. */
export const ScenarioFilter = z.strictObject({ name: z.string().min(1), rules: z.array(FilterRule) });
export type ScenarioFilter = z.infer<typeof ScenarioFilter>;
