import { formatCanonicalJson } from "../../platform/text/canonical-json.ts";
import { isObject } from "../../platform/text/json.ts";

/** Compares two values of JSON. The order of an object's fields does not count. */
export function isEqualJson(one: unknown, other: unknown): boolean {
  return formatCanonicalJson(one) === formatCanonicalJson(other);
}

/** Reports whether a value has all fields of the expected one, at every level. Lists must have the same length. */
export function containsJson(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(value) &&
      value.length === expected.length &&
      expected.every((one, index) => containsJson(value[index], one))
    );
  }
  if (!isObject(expected)) return isEqualJson(value, expected);
  return (
    isObject(value) &&
    Object.entries(expected).every(([key, one]) => Object.hasOwn(value, key) && containsJson(value[key], one))
  );
}
