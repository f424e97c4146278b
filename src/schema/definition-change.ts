import { z } from "zod";

// How one definition of an agent differs from another.

/** One field of an agent that another definition changes. */
export const DefinitionChange = z.object({
  /** The path in the definition: `limits.maxTurns`. */
  field: z.string(),
  /** At most 160 bytes, free of secrets. */
  description: z.string(),
  /** When the change takes effect. */
  takesEffect: z.enum(["next-turn", "next-loop"]),
});
export type DefinitionChange = z.infer<typeof DefinitionChange>;

/** An update of an agent to another definition, and whether it took effect. */
export const DefinitionUpdated = z.object({
  /** The hash of the definition before. */
  from: z.string(),
  /** The hash of the definition after. */
  to: z.string(),
  /** Whether the update took effect. */
  applied: z.boolean(),
  /** The fields that differ. */
  changes: z.array(DefinitionChange),
  /** What the change may break, as sentences. */
  warnings: z.array(z.string()),
  /** Why it was not applied. */
  reason: z.string().optional(),
});
