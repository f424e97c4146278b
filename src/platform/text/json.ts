import { isTooDeep } from "./json-depth.ts";

// Reads JSON of unknown origin. Each reader returns `undefined` for a missing value or one of the wrong type, so that new
// fields of a sender are ignored and cause no failure.

export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns `undefined` if the text is not JSON (which JSON itself cannot express), or is nested deeper than any data. */
export function parseJson(text: string): unknown {
  // Most texts that are not JSON are empty, such as tokens of calls; the exception would take ten microseconds.
  if (text === "" || isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param createError - Creates the error for a text that is not JSON, from the reason. */
export function parseJsonOrThrow(text: string, createError: (reason: string) => Error): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw createError((error as Error).message);
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/** Returns an object without fields for any other value. */
export function asFields(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns an empty list for any other value. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function asBoolean(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** Returns an object's own value under a name of unknown origin; never an inherited one, such as `constructor`. */
export function getOwn<Value>(
  table: Readonly<Record<string, Value>>,
  name: string | undefined,
): Value | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Returns the own field of a value that may be an object. */
export function getField(value: unknown, name: string): unknown {
  return isObject(value) ? getOwn(value, name) : undefined;
}
