import { outputName } from "../../core/final-tool.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import type { JsonObject } from "../json.ts";
import type { WireRequest } from "./wire.ts";

export function responseFormat(output: StructuredOutput): NonNullable<WireRequest["response_format"]> {
  if (output.type === "json") return { type: "json_object" };
  const { schema } = output;
  const strict = output.strict ?? fitsStrictMode(schema);
  return { type: "json_schema", json_schema: { name: outputName(output), schema, strict } };
}

/** Keywords that strict mode refuses wherever they stand. */
const REFUSED = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "patternProperties",
  "prefixItems",
  "dependentSchemas",
] as const;

/** Whether the vendor would take this schema as a strict one: objects are closed, and every field of theirs is required. */
export function fitsStrictMode(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(fitsStrictMode);
  if (typeof schema !== "object" || schema === null) return false;
  const object = schema as JsonObject;
  if (REFUSED.some((keyword) => keyword in object)) return false;
  const properties = valuesOf(object["properties"]);
  const required = Array.isArray(object["required"]) ? object["required"] : [];
  if (object["type"] === "object") {
    if (object["additionalProperties"] !== false) return false;
    if (
      Object.keys((object["properties"] as object | undefined) ?? {}).some((name) => !required.includes(name))
    )
      return false;
  }
  const inner = [object["items"], object["anyOf"]].filter((one) => one !== undefined);
  return [...inner, ...properties, ...valuesOf(object["$defs"])].every(fitsStrictMode);
}

function valuesOf(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}
