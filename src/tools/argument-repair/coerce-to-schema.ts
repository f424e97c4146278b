import { matchesSchema } from "../../platform/json-schema/schema-validator.ts";
import { isObject } from "../../platform/text/json.ts";
import {
  dereference,
  getChoices,
  getProperties,
  getTypes,
  isOfType,
  type JsonSchema,
} from "../../platform/text/schema-type.ts";
import { coerceToType } from "./coerce-to-type.ts";
import { formatName, joinPath } from "./describe-schema-errors.ts";

export type CoercionResult = {
  readonly value: unknown;
  /** The changes, a few words each. */
  readonly notes: readonly string[];
  /** The paths of the unknown fields that were dropped. */
  readonly dropped: readonly string[];
};

type SchemaPosition = { readonly path: string; readonly depth: number };
type CoercionContext = {
  readonly root: JsonSchema;
  /** The number of choices that may still be tried. It bounds the walk for any value. */
  choices: number;
};

const MAX_DEPTH = 64;
const MAX_CHOICES = 1000;

/** Coerces the parts that have one possible meaning under the schema, and leaves everything else as it is. */
export function coerceToSchema(value: unknown, schema: JsonSchema): CoercionResult {
  return coerceAt(value, schema, { path: "", depth: 0 }, { root: schema, choices: MAX_CHOICES });
}

function coerceAt(
  value: unknown,
  schema: unknown,
  position: SchemaPosition,
  walk: CoercionContext,
): CoercionResult {
  const here = dereference(schema, walk.root);
  if (here === undefined || position.depth > MAX_DEPTH) return keepValue(value);
  const choices = getChoices(here);
  if (choices !== undefined) return coerceChoice(value, choices, position, walk);
  const typed = coerceToDeclaredType(value, here, position.path);
  const inner = isObject(typed.value)
    ? coerceObject(typed.value, here, position, walk)
    : Array.isArray(typed.value)
      ? coerceList(typed.value, here, position, walk)
      : keepValue(typed.value);
  return { ...inner, notes: [...typed.notes, ...inner.notes] };
}

function keepValue(value: unknown): CoercionResult {
  return { value, notes: [], dropped: [] };
}

/** Coerces the value to the type that the schema declares, if the value can be read as one. At most one type fits. */
function coerceToDeclaredType(value: unknown, schema: JsonSchema, path: string): CoercionResult {
  const types = getTypes(schema);
  if (types.length === 0 || types.some((type) => isOfType(value, type))) return keepValue(value);
  const type = types.find((one) => coerceToType(value, one) !== undefined);
  if (type === undefined) return keepValue(value);
  const note = `${path || "arguments"}: ${typeof value} read as ${type}`;
  return { value: coerceToType(value, type), notes: [note], dropped: [] };
}

/** Coerces a value that fits no choice of the schema to the one choice that it can be coerced to. */
function coerceChoice(
  value: unknown,
  choices: readonly unknown[],
  position: SchemaPosition,
  walk: CoercionContext,
): CoercionResult {
  const forms = choices.map((choice) => dereference(choice, walk.root)).filter((form) => form !== undefined);
  if (forms.some((form) => matchesSchema(value, form, walk.root))) return keepValue(value);
  walk.choices -= forms.length;
  if (walk.choices < 0) return keepValue(value);
  const inner = { ...position, depth: position.depth + 1 };
  const coerced = forms
    .map((form) => ({ form, mended: coerceAt(value, form, inner, walk) }))
    .filter(({ form, mended: coerced }) => matchesSchema(coerced.value, form, walk.root))
    .map(({ mended: coerced }) => coerced);
  const [first] = coerced;
  return first !== undefined && areEqual(coerced.map((one) => one.value)) ? first : keepValue(value);
}

function areEqual(values: readonly unknown[]): boolean {
  return new Set(values.map((value) => JSON.stringify(value))).size === 1;
}

function coerceObject(
  value: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  position: SchemaPosition,
  walk: CoercionContext,
): CoercionResult {
  const properties = getProperties(schema);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const isClosed = schema["additionalProperties"] === false && schema["patternProperties"] === undefined;
  const fields: [string, unknown][] = [];
  const notes: string[] = [];
  const dropped: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    const path = joinPath(position.path, formatName(name));
    const isKnown = Object.hasOwn(properties, name);
    if (!isKnown && isClosed) {
      dropped.push(path);
      continue;
    }
    const fieldSchema = isKnown ? properties[name] : schema["additionalProperties"];
    if (isKnown && field === null && !required.includes(name) && !acceptsNull(fieldSchema, walk.root)) {
      notes.push(`${path}: null dropped`);
      continue;
    }
    const coerced = coerceAt(field, fieldSchema, { path, depth: position.depth + 1 }, walk);
    fields.push([name, coerced.value]);
    notes.push(...coerced.notes);
    dropped.push(...coerced.dropped);
  }
  return { value: Object.fromEntries(fields), notes, dropped };
}

function acceptsNull(schema: unknown, root: JsonSchema): boolean {
  const here = dereference(schema, root);
  return here === undefined || matchesSchema(null, here, root);
}

function coerceList(
  value: readonly unknown[],
  schema: JsonSchema,
  position: SchemaPosition,
  walk: CoercionContext,
): CoercionResult {
  const itemSchemas = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const items = value.map((item, index) =>
    coerceAt(
      item,
      index < itemSchemas.length ? itemSchemas[index] : schema["items"],
      { path: joinPath(position.path, String(index)), depth: position.depth + 1 },
      walk,
    ),
  );
  return {
    value: items.map((item) => item.value),
    notes: items.flatMap((item) => item.notes),
    dropped: items.flatMap((item) => item.dropped),
  };
}
