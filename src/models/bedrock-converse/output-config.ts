import { asFields, asList, asObject } from "../../platform/text/json.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { outputName, type StructuredOutput } from "../../schema/output.ts";
import type { OutputMode } from "../provider.ts";
import { describeConverseModel } from "./converse-model.ts";
import type { WireRequest } from "./wire.ts";

/** Selects native output if the model and the schema allow it, otherwise a tool (SO-01). */
export function selectOutputMode(model: ModelConfig, output: StructuredOutput): OutputMode {
  if (output.type !== "json-schema" || output.strict === false) return "final-tool";
  return describeConverseModel(model).takesSchema && isClosed(output.schema) ? "native" : "final-tool";
}

export function toOutputConfig(
  output: StructuredOutput,
): NonNullable<WireRequest["outputConfig"]> | undefined {
  if (output.type !== "json-schema") return undefined;
  const jsonSchema = { schema: JSON.stringify(output.schema), name: outputName(output) };
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}

/** Keywords that the API rejects in all or some of their uses. */
const UNSUPPORTED_KEYWORDS = [
  "$ref",
  "oneOf",
  "not",
  "if",
  "patternProperties",
  "dependentSchemas",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
] as const;

/** Returns whether every object of the schema is closed, as the API requires. */
function isClosed(schema: unknown): boolean {
  const object = asObject(schema);
  if (object === undefined || UNSUPPORTED_KEYWORDS.some((keyword) => keyword in object)) return false;
  if (object["type"] === "object" && object["additionalProperties"] !== false) return false;
  const inner = [
    ...Object.values(asFields(object["properties"])),
    ...asList(object["anyOf"]),
    ...asList(object["allOf"]),
    ...(object["items"] === undefined ? [] : [object["items"]]),
  ];
  return inner.every(isClosed);
}
