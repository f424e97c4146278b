import { outputName, type StructuredOutput } from "../../schema/output.ts";
import { supportsStrictMode } from "../openai-output.ts";
import type { WireRequest } from "./wire.ts";

export function toResponseFormat(output: StructuredOutput): NonNullable<WireRequest["response_format"]> {
  if (output.type === "json") return { type: "json_object" };
  const { schema } = output;
  const strict = output.strict ?? supportsStrictMode(schema);
  return { type: "json_schema", json_schema: { name: outputName(output), schema, strict } };
}
