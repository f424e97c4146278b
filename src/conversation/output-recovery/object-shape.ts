import { isObject } from "../../platform/text/json.ts";
import { dereference, getChoices, getProperties, type JsonSchema } from "../../platform/text/schema-type.ts";

/** Returns the schema that says what an object or list at this place contains: of alternatives, the first that does. */
export function findShape(schema: unknown, root: JsonSchema): JsonSchema | undefined {
  const here = dereference(schema, root);
  if (here === undefined) return undefined;
  if (here["properties"] !== undefined || here["items"] !== undefined) return here;
  return getChoices(here)
    ?.map((choice) => dereference(choice, root))
    .find((choice) => choice?.["properties"] !== undefined || choice?.["items"] !== undefined);
}

/** Signs around a name, such as of emphasis, or a colon within its quotes. */
const DECORATION = /^[^\p{L}\p{N}$@]+|[^\p{L}\p{N}]+$/gu;

/** Returns the known field that a name stands for: itself, or the only one that differs in case, separators and signs. */
export function findKnownField(name: string, shape: JsonSchema | undefined): string | undefined {
  if (shape === undefined) return undefined;
  const properties = getProperties(shape);
  if (Object.hasOwn(properties, name)) return name;
  const plain = normaliseName(name.replace(DECORATION, ""));
  const fitting =
    plain === "" ? [] : Object.keys(properties).filter((known) => normaliseName(known) === plain);
  return fitting.length === 1 ? fitting[0] : undefined;
}

export function normaliseName(name: string): string {
  return name.replace(/[-_\s.]/g, "").toLowerCase();
}

export function hasKnownFields(shape: JsonSchema | undefined): boolean {
  return shape !== undefined && Object.keys(getProperties(shape)).length > 0;
}

export function getFieldSchema(shape: JsonSchema | undefined, name: string): unknown {
  if (shape === undefined) return undefined;
  const known = findKnownField(name, shape);
  return known === undefined ? shape["additionalProperties"] : getProperties(shape)[known];
}

export function isClosed(schema: JsonSchema): boolean {
  return schema["additionalProperties"] === false && !isObject(schema["patternProperties"]);
}
