import { outputName } from "../../conversation/final-tool.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import { listOf, objectOf } from "../json.ts";
import type { OutputRoad } from "../provider.ts";
import { converseModel } from "./models.ts";
import type { WireRequest } from "./wire.ts";

/** SO-01: native where the model and the schema allow it, else by a tool. */
export function outputRoad(model: ModelConfig, output: StructuredOutput): OutputRoad {
  if (output.type !== "json-schema" || output.strict === false) return "final-tool";
  return converseModel(model).takesSchema && isClosed(output.schema) ? "native" : "final-tool";
}

export function outputConfig(output: StructuredOutput): NonNullable<WireRequest["outputConfig"]> | undefined {
  if (output.type !== "json-schema") return undefined;
  const jsonSchema = { schema: JSON.stringify(output.schema), name: outputName(output) };
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}

/** Keywords that the API refuses, all or some of their uses. */
const REFUSED = [
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

/** Whether every object of the schema is closed, as the API demands. */
function isClosed(schema: unknown): boolean {
  const object = objectOf(schema);
  if (object === undefined || REFUSED.some((keyword) => keyword in object)) return false;
  if (object["type"] === "object" && object["additionalProperties"] !== false) return false;
  const inner = [
    ...Object.values(objectOf(object["properties"]) ?? {}),
    ...listOf(object["anyOf"]),
    ...listOf(object["allOf"]),
    ...(object["items"] === undefined ? [] : [object["items"]]),
  ];
  return inner.every(isClosed);
}
