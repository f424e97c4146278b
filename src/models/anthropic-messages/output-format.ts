import { asFields, asList, asObject, type JsonObject } from "../../platform/text/json.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import { describeClaudeModel } from "../claude-model.ts";
import type { OutputMode } from "../provider.ts";

// Structured outputs of the API: it compiles the schema to a grammar, and answers 400 to keywords that its compiler does not
// know (https://platform.claude.com/docs/en/build-with-claude/structured-outputs).

/** Keywords that the compiler knows or ignores. Limits of numbers and texts are not among them. */
const KNOWN_KEYWORDS = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "minItems",
  "enum",
  "const",
  "anyOf",
  "$ref",
  "$defs",
  "title",
  "description",
  "default",
  "format",
]);

const KNOWN_FORMATS = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** A free JSON object has no schema, and a non-strict output becomes a tool's arguments. */
export function selectOutputMode({ id }: ModelConfig, output: StructuredOutput): OutputMode {
  if (output.type !== "json-schema" || !describeClaudeModel(id).takesFormat || output.strict === false)
    return "final-tool";
  return output.strict === true || fitsGrammar(output.schema) ? "native" : "final-tool";
}

export function toOutputFormat(output: StructuredOutput | undefined): JsonObject | undefined {
  return output?.type === "json-schema"
    ? { type: "json_schema", schema: toGrammar(output.schema) }
    : undefined;
}

/** Removes what many generators write at the root and the compiler rejects. */
function toGrammar({ $schema: _, ...schema }: JsonObject): JsonObject {
  return schema;
}

/** Returns whether the compiler accepts this schema. In doubt, no. */
export function fitsGrammar(schema: JsonObject): boolean {
  const root = toGrammar(schema);
  return isSupported(root, root, []);
}

function isSupported(value: unknown, root: JsonObject, within: readonly string[]): boolean {
  const schema = asObject(value);
  if (schema === undefined || !Object.keys(schema).every((keyword) => KNOWN_KEYWORDS.has(keyword)))
    return false;
  const { $ref: ref, type, properties, additionalProperties, items, minItems, format } = schema;
  if (typeof ref === "string") return isSupportedReference(ref, root, within);
  if (ref !== undefined) return false;
  if (type === "object" && additionalProperties !== false) return false;
  if (minItems !== undefined && minItems !== 0 && minItems !== 1) return false;
  if (format !== undefined && !(typeof format === "string" && KNOWN_FORMATS.has(format))) return false;
  if (![schema["const"], ...asList(schema["enum"])].every(isScalar)) return false;
  const inner = [
    ...Object.values(asFields(properties)),
    ...asList(schema["anyOf"]),
    ...(items === undefined ? [] : [items]),
  ];
  return inner.every((one) => isSupported(one, root, within));
}

/** Accepts only references within the schema, and never to an enclosing schema: the compiler rejects recursion. */
function isSupportedReference(ref: string, root: JsonObject, within: readonly string[]): boolean {
  const name = /^#\/\$defs\/([^/]+)$/.exec(ref)?.[1];
  if (name === undefined || within.includes(name)) return false;
  return isSupported(asObject(root["$defs"])?.[name], root, [...within, name]);
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}
