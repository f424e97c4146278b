import { parseJson } from "../../platform/text/json.ts";
import { isOfType, type SchemaType } from "../../platform/text/schema-type.ts";

/**
 * Returns the value in another type, if the conversion back gives the same value; otherwise `undefined`.
 *
 * Text becomes a number or a boolean, and the reverse. Text becomes an object or a list when it is the strict JSON of one.
 */
export function coerceToType(value: unknown, type: SchemaType): unknown {
  if (typeof value === "string") return parseTextAs(value, type);
  if (type !== "string") return undefined;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number" && isExact(value)) return String(value);
  return undefined;
}

function parseTextAs(text: string, type: SchemaType): unknown {
  switch (type) {
    case "number":
    case "integer": {
      const number = Number(text);
      return String(number) === text && isExact(number) && isOfType(number, type) ? number : undefined;
    }
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "object":
    case "array": {
      const parsed = parseJson(text);
      return isOfType(parsed, type) ? parsed : undefined;
    }
    default:
      return undefined;
  }
}

/** A whole number beyond 2^53 may stand for a different number that the model wrote. */
function isExact(number: number): boolean {
  if (!Number.isFinite(number) || Object.is(number, -0)) return false;
  return !Number.isInteger(number) || Number.isSafeInteger(number);
}
