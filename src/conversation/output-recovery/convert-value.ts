import { isObject, parseJson } from "../../platform/text/json.ts";
import type { SchemaType } from "../../platform/text/schema-type.ts";
import { normaliseName } from "./object-shape.ts";

/** Distinguishes a value from its absence, because any value may be meant. */
export type Converted = { readonly value: unknown };

const TRUE_WORDS = ["true", "yes", "y", "on", "1"];
const FALSE_WORDS = ["false", "no", "n", "off", "0"];

const MAX_NUMBER_CHARS = 100;

/** Converts a value of another type, where one value can be meant. */
export function convertToType(value: unknown, type: SchemaType): Converted | undefined {
  switch (type) {
    case "number":
    case "integer":
      return convertToNumber(takeOnly(value), type);
    case "boolean":
      return convertToBoolean(takeOnly(value));
    case "string":
      return convertToText(takeOnly(value));
    case "array":
      return convertToList(value);
    case "object":
      return convertToObject(takeOnly(value));
    case "null":
      return undefined;
  }
}

/**
 * Finds the only allowed value that a text stands for: it differs in case, separators or type.
 *
 * @param isPartial - The end of the text is missing.
 */
export function matchEnum(
  value: unknown,
  allowed: readonly unknown[],
  isPartial: boolean,
): Converted | undefined {
  if (allowed.includes(value) && !isPartial) return { value };
  const only = takeOnly(value);
  if (only !== value && allowed.includes(only)) return { value: only };
  if (typeof only !== "string" && typeof only !== "number" && typeof only !== "boolean") return undefined;
  const plain = normaliseName(String(only).replace(/["'`*]/g, ""));
  if (plain === "") return undefined;
  const fitting = allowed.filter((member) => {
    if (member === null) return false;
    const name = normaliseName(String(member));
    return isPartial ? name.startsWith(plain) : name === plain;
  });
  return fitting.length === 1 ? { value: fitting[0] } : undefined;
}

function takeOnly(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

function convertToNumber(value: unknown, type: "number" | "integer"): Converted | undefined {
  if (typeof value === "number") return type === "number" || Number.isInteger(value) ? { value } : undefined;
  if (typeof value !== "string" || value.length > MAX_NUMBER_CHARS) return undefined;
  const text = value.trim().replace(/\s*%$/, "");
  if (!/^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const number = Number(text);
  // A whole number beyond 2^53 may stand for another one that the model wrote.
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    return undefined;
  return type === "number" || Number.isInteger(number) ? { value: number } : undefined;
}

function convertToBoolean(value: unknown): Converted | undefined {
  if (typeof value === "boolean") return { value };
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const word = String(value).trim().toLowerCase();
  if (TRUE_WORDS.includes(word)) return { value: true };
  return FALSE_WORDS.includes(word) ? { value: false } : undefined;
}

function convertToText(value: unknown): Converted | undefined {
  if (typeof value === "string") return { value };
  if (typeof value === "boolean") return { value: String(value) };
  const isExact = typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return isExact ? { value: String(value) } : undefined;
}

/** What separates the items of a list that was written as a text. */
const SEPARATOR = /[,;|\n]/;

/** A single value is a list of one. An empty text is no item, and one with separators may be several. */
function convertToList(value: unknown): Converted | undefined {
  if (value === null || value === "") return undefined;
  const parsed = typeof value === "string" ? parseJson(value) : undefined;
  if (Array.isArray(parsed)) return { value: parsed };
  return typeof value === "string" && SEPARATOR.test(value) ? undefined : { value: [value] };
}

function convertToObject(value: unknown): Converted | undefined {
  if (isObject(value)) return { value };
  const parsed = typeof value === "string" ? parseJson(value) : undefined;
  return isObject(parsed) ? { value: parsed } : undefined;
}
