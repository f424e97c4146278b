import { outputName } from "../../conversation/final-tool.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import { fitsStrictMode } from "../openai-output.ts";
import type { WireRequest } from "./wire.ts";

export function responseFormat(output: StructuredOutput): NonNullable<WireRequest["response_format"]> {
  if (output.type === "json") return { type: "json_object" };
  const { schema } = output;
  const strict = output.strict ?? fitsStrictMode(schema);
  return { type: "json_schema", json_schema: { name: outputName(output), schema, strict } };
}
