import type { JsonObject } from "./json.ts";
import type { OutputMode } from "./provider.ts";

// Structured output, as OpenAI and those who speak its protocols take it.

/**
 * DeepSeek knows no format but a free JSON object; Groq none beside tools and streams, and few of its models a schema.
 * Both call tools.
 */
export function selectOpenAiOutputMode(provider: string, format: "json" | "json-schema"): OutputMode {
  if (provider === "groq") return "final-tool";
  return provider !== "deepseek" || format === "json" ? "native" : "final-tool";
}
/** Keywords that strict mode refuses wherever they stand. */
const UNSUPPORTED_KEYWORDS = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "patternProperties",
  "prefixItems",
  "dependentSchemas",
] as const;

/** Whether the vendor would take this schema as a strict one: objects are closed, and every field of theirs is required. */
export function supportsStrictMode(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(supportsStrictMode);
  if (typeof schema !== "object" || schema === null) return false;
  const object = schema as JsonObject;
  if (UNSUPPORTED_KEYWORDS.some((keyword) => keyword in object)) return false;
  const properties = listValues(object["properties"]);
  const required = Array.isArray(object["required"]) ? object["required"] : [];
  if (object["type"] === "object") {
    if (object["additionalProperties"] !== false) return false;
    if (
      Object.keys((object["properties"] as object | undefined) ?? {}).some((name) => !required.includes(name))
    )
      return false;
  }
  const inner = [object["items"], object["anyOf"]].filter((one) => one !== undefined);
  return [...inner, ...properties, ...listValues(object["$defs"])].every(supportsStrictMode);
}

function listValues(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}
