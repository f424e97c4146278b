import { type ZodError, type ZodType, z } from "zod";
import type { OutputFormat, OutputRecovery } from "../../schema/output.ts";
import { HoldfastError } from "../holdfast-error.ts";

/**
 * Converts a zod schema to a definition's output: what the model writes, before transforms. Objects are closed, as
 * in zod, unless the schema opens them.
 *
 * @throws HoldfastError `definition-invalid` for what JSON Schema cannot express.
 */
export function zodOutput(
  schema: ZodType,
  options: {
    /** The name of the format, for vendors that want one. */
    readonly name?: string;
    /** Whether the vendor must follow the schema exactly; passed to the definition's output. */
    readonly strict?: boolean;
    /** Whether an answer that does not match is repaired before it is requested again; `strict` by default. */
    readonly recovery?: OutputRecovery;
  } = {},
): OutputFormat {
  try {
    const { $schema: _, ...json } = z.toJSONSchema(schema, {
      io: "input",
      override: ({ jsonSchema }) => {
        if (jsonSchema.type === "object" && jsonSchema.properties !== undefined)
          jsonSchema.additionalProperties ??= false;
        // zod adds the bounds of exact numbers to `int()`. With them, some vendors cannot follow the schema natively.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      },
    });
    return { type: "json-schema", schema: json, ...options };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HoldfastError(
      "definition-invalid",
      `The output's zod schema cannot be converted for a model: ${reason}`,
      {
        problems: [reason],
        cause: error,
      },
    );
  }
}

export function formatProblems({ issues }: ZodError): string {
  return issues
    .map(({ path, message }) => `${path.map(String).join(".") || "the value"}: ${message}`)
    .join("; ");
}
