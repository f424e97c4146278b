import { isObject, parseJson } from "../../platform/text/json.ts";
import type { JsonSchema } from "../../platform/text/schema-type.ts";
import { findKnownField, findShape, hasKnownFields } from "./object-shape.ts";
import type { RepairList } from "./repair-list.ts";

/** An object within a call within a message is three levels deep. */
const MAX_LEVELS = 5;

type Inner = Readonly<Record<string, unknown>>;

/**
 * Takes the answer out of a list or of an object that has none of the known fields, such as a call: the only object within
 * that has known fields, or a text that is one.
 */
export function unwrapRoot(value: unknown, schema: JsonSchema, repairs: RepairList): unknown {
  const shape = findShape(schema, schema);
  if (!hasKnownFields(shape)) return value;
  const inner = listAnswers(value, shape, 0);
  const [only] = inner;
  if (inner.length !== 1 || only === undefined || only === value) return value;
  repairs.add(`${Array.isArray(value) ? "list" : "object"} around the answer removed`);
  return only;
}

/** Reports whether a value holds fields of this schema, at whatever depth. */
export function holdsFields(value: unknown, schema: JsonSchema): boolean {
  return listAnswers(value, schema, 0).length > 0;
}

/** Lists the objects with known fields, and does not look for others within them. */
function listAnswers(value: unknown, shape: JsonSchema | undefined, level: number): readonly Inner[] {
  const inner = typeof value === "string" && /^\s*[{[]/.test(value) ? parseJson(value) : value;
  if (isObject(inner) && Object.keys(inner).some((name) => findKnownField(name, shape) !== undefined))
    return [inner];
  if ((!isObject(inner) && !Array.isArray(inner)) || level === MAX_LEVELS) return [];
  return Object.values(inner).flatMap((field) => listAnswers(field, shape, level + 1));
}
