import { z } from "zod";

// How one definition of an agent differs from another.

/** One field of an agent that another definition changes. */
export const DefinitionChange = z.object({
  field: z.string().describe("The path in the definition: `limits.maxTurns`."),
  description: z.string().describe("What changes, in at most 160 bytes and free of secrets."),
  takesEffect: z.enum(["next-turn", "next-loop"]).describe("When the change takes effect."),
});
export type DefinitionChange = z.infer<typeof DefinitionChange>;

/** An update of an agent to another definition, and whether it took effect. */
export const DefinitionUpdated = z.object({
  from: z.string().describe("The hash of the definition before."),
  to: z.string().describe("The hash of the definition after."),
  applied: z.boolean().describe("Whether the update took effect."),
  changes: z.array(DefinitionChange).describe("The fields that differ."),
  warnings: z.array(z.string()).describe("What the change may break, as sentences."),
  reason: z.string().optional().describe("Why it was not applied."),
});
