import { isObject, type JsonObject, shortened } from "./json.ts";
import type { ModelSchema } from "./model-schema.ts";
import { plain } from "./plain.ts";

type Inner = {
  readonly schema: (value: unknown) => ModelSchema;
  readonly isReadOnly: (property: unknown) => boolean;
};

const TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"];
/** Of one part of a tool's parameters. */
const MAX_DESCRIPTION = 600;
/** Of an example or a default as JSON; longer ones are there for people. */
const MAX_VALUE = 200;

const COUNTS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const NUMBERS = ["minimum", "maximum"];
const LISTS = ["anyOf", "oneOf"] as const;

/** The keywords of one schema that mean the same to every reader of JSON Schema, draft 7 and 2020-12. */
export function keywordsOf(schema: JsonObject, inner: Inner): ModelSchema {
  const own = {
    ...words(schema),
    ...typesOf(schema),
    ...valuesOf(schema),
    ...boundsOf(schema),
    ...membersOf(schema, inner),
    ...choicesOf(schema, inner),
  };
  return nullable(schema, merged(own, partsOf(schema, inner)));
}

function words({ description, title, format, deprecated }: JsonObject): ModelSchema {
  return {
    ...(typeof title === "string" && typeof description !== "string"
      ? { description: shortened(plain(title), MAX_DESCRIPTION) }
      : {}),
    ...(typeof description === "string"
      ? { description: shortened(plain(description), MAX_DESCRIPTION) }
      : {}),
    ...(typeof format === "string" ? { format } : {}),
    ...(deprecated === true ? { deprecated } : {}),
  };
}

function typesOf({ type, properties, items }: JsonObject): ModelSchema {
  const named = (Array.isArray(type) ? type : [type]).filter((name) => TYPES.includes(name as string));
  const types = [...new Set(named)];
  if (types.length > 0) return { type: types.length === 1 ? types[0] : types };
  if (isObject(properties)) return { type: "object" };
  return isObject(items) ? { type: "array" } : {};
}

function valuesOf(schema: JsonObject): ModelSchema {
  const { enum: values, example, examples } = schema;
  const shown = example ?? (Array.isArray(examples) ? examples[0] : undefined);
  return {
    ...(Array.isArray(values) && values.length > 0 ? { enum: apart(values) } : {}),
    ...(schema["const"] === undefined ? {} : { const: schema["const"] }),
    ...(isShort(schema["default"]) ? { default: schema["default"] } : {}),
    ...(isShort(shown) ? { examples: [shown] } : {}),
  };
}

function apart(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function isShort(value: unknown): boolean {
  return value !== undefined && value !== null && (JSON.stringify(value)?.length ?? MAX_VALUE) < MAX_VALUE;
}

/** In 3.0 `exclusiveMinimum: true` makes another bound of `minimum`. */
function boundsOf(schema: JsonObject): ModelSchema {
  const bounds: Record<string, unknown> = {};
  for (const name of COUNTS) {
    const value = schema[name];
    if (Number.isInteger(value) && (value as number) >= 0) bounds[name] = value;
  }
  for (const name of NUMBERS) {
    const exclusive = `exclusive${name[0]?.toUpperCase()}${name.slice(1)}`;
    const [bound, said] = [schema[name], schema[exclusive]];
    if (typeof said === "number") bounds[exclusive] = said;
    if (typeof bound === "number") bounds[said === true ? exclusive : name] = bound;
  }
  const { multipleOf, pattern, uniqueItems } = schema;
  if (typeof multipleOf === "number" && multipleOf > 0) bounds["multipleOf"] = multipleOf;
  if (typeof pattern === "string" && isExpression(pattern)) bounds["pattern"] = pattern;
  if (uniqueItems === true) bounds["uniqueItems"] = true;
  return bounds;
}

/** Expressions of other languages are left out: a reader of the schema would stumble over them. */
function isExpression(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

function membersOf(schema: JsonObject, { schema: inner, isReadOnly }: Inner): ModelSchema {
  const { properties, required, additionalProperties, items, prefixItems } = schema;
  const members: Record<string, unknown> = {};
  const wanted = isObject(properties)
    ? Object.entries(properties).filter(([, property]) => !isReadOnly(property))
    : undefined;
  if (wanted !== undefined) {
    members["properties"] = Object.fromEntries(wanted.map(([name, property]) => [name, inner(property)]));
  }
  if (Array.isArray(required)) {
    const dropped = isObject(properties) ? Object.keys(properties) : [];
    const kept = new Set(wanted?.map(([name]) => name));
    const names = required.filter(
      (name) => typeof name === "string" && (kept.has(name) || !dropped.includes(name)),
    );
    if (names.length > 0) members["required"] = [...new Set(names)];
  }
  if (typeof additionalProperties === "boolean") members["additionalProperties"] = additionalProperties;
  else if (isObject(additionalProperties)) members["additionalProperties"] = inner(additionalProperties);
  if (Array.isArray(prefixItems) && prefixItems.length > 0) members["items"] = {};
  else if (isObject(items)) members["items"] = inner(items);
  else if (schema["type"] === "array") members["items"] = {};
  return members;
}

function choicesOf(schema: JsonObject, { schema: inner }: Inner): ModelSchema {
  const choices: Record<string, unknown> = {};
  for (const name of LISTS) {
    const members = schema[name];
    if (Array.isArray(members) && members.length > 0) choices[name] = members.map(inner);
  }
  if (isObject(schema["not"])) choices["not"] = inner(schema["not"]);
  return choices;
}

function partsOf(schema: JsonObject, { schema: inner }: Inner): readonly ModelSchema[] {
  const { allOf } = schema;
  return Array.isArray(allOf) ? allOf.map(inner).filter((part) => Object.keys(part).length > 0) : [];
}

/** Parts that say nothing against each other become one table, which every vendor reads; others stay apart. */
function merged(own: ModelSchema, parts: readonly ModelSchema[]): ModelSchema {
  if (parts.length === 0) return own;
  let whole = own;
  for (const part of parts) {
    const both = joined(whole, part);
    if (both === undefined) return { ...own, allOf: parts };
    whole = both;
  }
  return whole;
}

const SAID_ONCE = ["description", "title", "default", "examples", "deprecated"];

function joined(whole: ModelSchema, part: ModelSchema): ModelSchema | undefined {
  const result: Record<string, unknown> = { ...whole };
  for (const [key, value] of Object.entries(part)) {
    const there = result[key];
    if (there === undefined) result[key] = value;
    else if (SAID_ONCE.includes(key) || JSON.stringify(there) === JSON.stringify(value)) continue;
    else if (key === "properties") {
      const [one, other] = [there as JsonObject, value as JsonObject];
      const clash = Object.keys(other).some(
        (name) => Object.hasOwn(one, name) && JSON.stringify(one[name]) !== JSON.stringify(other[name]),
      );
      if (clash) return undefined;
      result[key] = { ...one, ...other };
    } else if (key === "required") {
      result[key] = [...new Set([...(there as string[]), ...(value as string[])])];
    } else return undefined;
  }
  // A closed table of one part would shut out the properties of the others.
  const closes = (schema: ModelSchema) => schema["additionalProperties"] === false;
  return closes(whole) !== closes(part) ? undefined : result;
}

/** `nullable` of 3.0, in words of 3.1. */
function nullable(schema: JsonObject, made: ModelSchema): ModelSchema {
  if (schema["nullable"] !== true) return made;
  const { type, enum: values } = made;
  if (typeof type !== "string") {
    if (Array.isArray(type)) return { ...made, type: [...new Set([...type, "null"])] };
    const { description, ...rest } = made;
    if (Object.keys(rest).length === 0) return made;
    return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: "null" }] };
  }
  return {
    ...made,
    type: [type, "null"],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}
