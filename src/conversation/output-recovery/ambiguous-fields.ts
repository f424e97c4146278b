import { isObject } from "../../platform/text/json.ts";
import { getProperties, type JsonSchema } from "../../platform/text/schema-type.ts";
import { findKnownField, isClosed } from "./object-shape.ts";
import { holdsFields } from "./unwrap-root.ts";

/**
 * Reports whether the fields of an object can be read in two ways: a known one has two values under two names, or one that
 * is not known, and would be left out, may be a known one that is missing.
 */
export function isAmbiguous(value: Readonly<Record<string, unknown>>, schema: JsonSchema): boolean {
  const found = new Map<string, string>();
  const unknown: unknown[] = [];
  for (const [written, field] of Object.entries(value)) {
    const known = findKnownField(written, schema);
    const json = JSON.stringify(field);
    if (known !== undefined && (found.get(known) ?? json) !== json) return true;
    if (known !== undefined) found.set(known, json);
    else if (saysSomething(written, field)) unknown.push(field);
  }
  if (!isClosed(schema) || unknown.length === 0) return false;
  const isComplete = Object.keys(getProperties(schema)).every((name) => found.has(name));
  // What stands around the answer may have names of its fields: it is then within one of them.
  const texts = Object.values(value).filter((field) => typeof field === "string");
  return !isComplete || [...unknown, ...texts].some((field) => holdsFields(field, schema));
}

function saysSomething(name: string, field: unknown): boolean {
  if (name.startsWith("$") || field === null || field === "") return false;
  return !(isObject(field) || Array.isArray(field)) || Object.keys(field).length > 0;
}
