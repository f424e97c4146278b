import type { JsonObject } from "../platform/text/json.ts";
import type { OutputMode } from "./provider.ts";

// Structured output for OpenAI and for other vendors with its protocols.

/**
 * DeepSeek supports only a free JSON object. Groq supports no format with tools and streams, and a schema on few models.
 * Both use a tool.
 */
export function selectOpenAiOutputMode(provider: string, format: "json" | "json-schema"): OutputMode {
  if (provider === "groq") return "final-tool";
  return provider !== "deepseek" || format === "json" ? "native" : "final-tool";
}
/** Keywords that strict mode rejects everywhere. */
const UNSUPPORTED_KEYWORDS = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "patternProperties",
  "prefixItems",
  "dependentSchemas",
] as const;

/** Returns whether strict mode accepts this schema: objects are closed, and all of their fields are required. */
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
