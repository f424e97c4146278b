import { isDeepStrictEqual } from "node:util";
import type { SpoiltOutput } from "./corpus.ts";
import type { JsonSchema } from "./mutator.ts";

export type Judgement =
  /** A valid value that says what the text says. */
  | "recovered"
  /** No value, which costs a request of the repair round. */
  | "refused"
  /** A valid value that the text does not say. */
  | "wrong";

/** @param value - What was recovered, valid under the schema and with its defaults; `undefined` for nothing. */
export function judge({ loss, original, schema }: SpoiltOutput, value: unknown): Judgement {
  if (value === undefined) return "refused";
  switch (loss) {
    case "none":
      return isDeepStrictEqual(value, original) ? "recovered" : "wrong";
    case "part":
      return isPartOf(value, original, schema) ? "recovered" : "wrong";
    case "essential":
      return "wrong";
  }
}

/** Reports whether a value has parts of the original and defaults, and nothing else. */
function isPartOf(value: unknown, original: unknown, schema: JsonSchema): boolean {
  if (isDeepStrictEqual(value, original)) return true;
  if (schema["default"] !== undefined && isDeepStrictEqual(value, fillDefaults(schema))) return true;
  if (typeof value === "string") return typeof original === "string" && original.startsWith(value);
  if (Array.isArray(value)) {
    const items = (schema["items"] ?? {}) as JsonSchema;
    return (
      Array.isArray(original) &&
      value.length <= original.length &&
      value.every((item, index) => isPartOf(item, original[index], items))
    );
  }
  if (typeof value !== "object" || value === null || typeof original !== "object" || original === null)
    return false;
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  return Object.entries(value).every(([name, field]) =>
    isPartOf(field, (original as Record<string, unknown>)[name], properties[name] ?? {}),
  );
}

/** The default of an object has the defaults of its fields. */
function fillDefaults({ default: own, properties }: JsonSchema): unknown {
  if (typeof own !== "object" || own === null || Array.isArray(own)) return own;
  const fields = Object.entries((properties ?? {}) as Record<string, JsonSchema>);
  return { ...Object.fromEntries(fields.map(([name, field]) => [name, fillDefaults(field)])), ...own };
}
