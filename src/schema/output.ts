import { z } from "zod";

/** Of a schema as JSON, in characters: it goes out with every request, and is stored with the definition. */
export const MAX_OUTPUT_SCHEMA_CHARS = 32 * 1024;

/** What vendors take as the name of a tool, and of a response format. */
const OutputName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, - or _, like the name of a tool");

/** A JSON Schema (2020-12) whose root is an object: vendors take no other. */
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
 * What a loop's last answer must be (SO-01): a text, any JSON object, or an object of a JSON Schema.
 *
 * `name` is what the vendor calls it, and the name of the final tool where one is needed; `final_answer` unless said.
 */
export const OutputFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json"), name: OutputName.optional() }),
  z.strictObject({
    type: z.literal("json-schema"),
    schema: OutputSchema,
    name: OutputName.optional(),
    /** Asks the vendor to keep to the schema word by word; unless said, wherever the schema allows it. */
    strict: z.boolean().optional(),
  }),
]);
export type OutputFormat = z.infer<typeof OutputFormat>;

/** An output that is more than a text. */
export type StructuredOutput = Exclude<OutputFormat, { type: "text" }>;

/** What an output is called on the wire when its definition gives it no name. */
const DEFAULT_OUTPUT_NAME = "final_answer";

export function outputName({ name }: StructuredOutput): string {
  return name ?? DEFAULT_OUTPUT_NAME;
}
