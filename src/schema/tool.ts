import { z } from "zod";

/** What a second execution of a tool means (the table in docs/crash-contract): `unsafe` by default. */
export const ReplayClass = z.enum(["pure", "idempotent", "unsafe"]);
export type ReplayClass = z.infer<typeof ReplayClass>;

/** The description of a tool for a model. `parameters` is a JSON Schema of type object. */
export const ToolDefinition = z.object({
  name: z.string().describe("The name by which the model calls the tool."),
  description: z.string().describe("What the tool does, for the model."),
  parameters: z.record(z.string(), z.unknown()).describe("The JSON Schema of the arguments, of type object."),
});
export type ToolDefinition = z.infer<typeof ToolDefinition>;

/** How the calls of one answer run: one by one, all at once, or `size` at a time. */
export const ToolStrategy = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("sequential") }),
  z.strictObject({ type: z.literal("parallel") }),
  z.strictObject({
    type: z.literal("batched"),
    size: z.number().int().min(1).describe("The most calls that run at the same time."),
  }),
]);
export type ToolStrategy = z.infer<typeof ToolStrategy>;
