import { type ZodError, type ZodType, z } from "zod";
import type { OutputFormat } from "../../schema/output.ts";
import { HoldfastError } from "../holdfast-error.ts";

/**
 * The output of a definition as a zod schema says it: what the model writes, before transforms. Objects are closed, as
 * zod reads them, unless they say otherwise.
 *
 * @throws HoldfastError `definition-invalid` for what JSON Schema cannot say.
 */
export function zodOutput(
  schema: ZodType,
  options: { readonly name?: string; readonly strict?: boolean } = {},
): OutputFormat {
  try {
    const { $schema: _, ...json } = z.toJSONSchema(schema, {
      io: "input",
      override: ({ jsonSchema }) => {
        if (jsonSchema.type === "object" && jsonSchema.properties !== undefined)
          jsonSchema.additionalProperties ??= false;
      },
    });
    return { type: "json-schema", schema: json, ...options };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HoldfastError(
      "definition-invalid",
      `The output's zod schema cannot be sent to a model: ${reason}`,
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
