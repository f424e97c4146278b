import { z } from "zod";

/** The maximum of a schema as JSON, in characters: it is sent with every request and stored with the definition. */
export const MAX_OUTPUT_SCHEMA_CHARS = 32 * 1024;

/**
 * What happens to an answer that is not quite what its output requires: `strict` requests it again, `repair` first reads
 * what the model meant, where only one value can be meant.
 */
export const OutputRecovery = z.enum(["strict", "repair"]);
export type OutputRecovery = z.infer<typeof OutputRecovery>;

/** What vendors accept as the name of a tool and of a response format. */
const OutputName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, - or _, like the name of a tool");

/** A JSON Schema (2020-12) whose root is an object: vendors accept no other. */
const OutputSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  if (schema["type"] !== "object") {
    const found = schema["type"] === undefined ? "nothing" : JSON.stringify(schema["type"]);
    const message = `its "type" must be "object", found ${found}: put a list, a text or a union into a field of an object`;
    context.addIssue({ code: "custom", message });
  }
  const { length } = JSON.stringify(schema);
  if (length > MAX_OUTPUT_SCHEMA_CHARS) {
    const message = `it has ${length} characters as JSON, but at most ${MAX_OUTPUT_SCHEMA_CHARS} are allowed: shorten descriptions, or use $defs`;
    context.addIssue({ code: "custom", message });
  }
});

/**
 * The required format of a loop's last answer (SO-01): a text, any JSON object, or an object of a JSON Schema.
 *
 * `name` is the vendor's name for it, and the name of the final tool where one is needed; `final_answer` by default.
 */
export const OutputFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({
    type: z.literal("json"),
    name: OutputName.optional().describe("The name of the format, for vendors that want one."),
    recovery: OutputRecovery.optional().describe(
      "Whether an answer that does not match is repaired before it is requested again; `strict` by default.",
    ),
  }),
  z.strictObject({
    type: z.literal("json-schema"),
    schema: OutputSchema.describe("The JSON Schema that the answer must match."),
    name: OutputName.optional().describe("The name of the format, for vendors that want one."),
    strict: z
      .boolean()
      .optional()
      .describe(
        "Requests that the vendor follows the schema exactly; by default wherever the schema allows it.",
      ),
    recovery: OutputRecovery.optional().describe(
      "Whether an answer that does not match is repaired before it is requested again; `strict` by default.",
    ),
  }),
]);
export type OutputFormat = z.infer<typeof OutputFormat>;

/** An output that is more than a text. */
export type StructuredOutput = Exclude<OutputFormat, { type: "text" }>;

/** The name of an output on the wire when its definition gives it none. */
const DEFAULT_OUTPUT_NAME = "final_answer";

export function outputName({ name }: StructuredOutput): string {
  return name ?? DEFAULT_OUTPUT_NAME;
}
