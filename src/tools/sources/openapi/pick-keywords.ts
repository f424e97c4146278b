import { isObject, type JsonObject } from "../../../platform/text/json.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { truncateText } from "../../../platform/text/truncate-text.ts";
import { sanitiseDocumentText } from "./sanitise-document-text.ts";
import type { ModelSchema } from "./schema-inliner.ts";

type InnerSchemas = {
  readonly schema: (value: unknown) => ModelSchema;
  readonly isReadOnly: (property: unknown) => boolean;
};

const TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"];
/** The limit for one part of a tool's parameters. */
const MAX_DESCRIPTION_CHARS = 600;
/** The limit for an example or a default as JSON. Longer ones are meant for humans. */
const MAX_VALUE_CHARS = 200;

const COUNT_KEYWORDS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const NUMBER_KEYWORDS = ["minimum", "maximum"];
const CHOICE_KEYWORDS = ["anyOf", "oneOf"] as const;

/** Picks the keywords of one schema that mean the same in JSON Schema draft 7 and 2020-12. */
export function pickKeywords(schema: JsonObject, inner: InnerSchemas): ModelSchema {
  const own = {
    ...describeSchema(schema),
    ...pickTypes(schema),
    ...pickValues(schema),
    ...pickBounds(schema),
    ...pickMembers(schema, inner),
    ...pickChoices(schema, inner),
  };
  return makeNullable(schema, mergeParts(own, pickParts(schema, inner)));
}

function describeSchema({ description, title, format, deprecated }: JsonObject): ModelSchema {
  return {
    ...(typeof title === "string" && typeof description !== "string"
      ? { description: truncateText(sanitiseDocumentText(title), MAX_DESCRIPTION_CHARS) }
      : {}),
    ...(typeof description === "string"
      ? { description: truncateText(sanitiseDocumentText(description), MAX_DESCRIPTION_CHARS) }
      : {}),
    ...(typeof format === "string" ? { format } : {}),
    ...(deprecated === true ? { deprecated } : {}),
  };
}

function pickTypes({ type, properties, items }: JsonObject): ModelSchema {
  const named = (Array.isArray(type) ? type : [type]).filter((name) => TYPES.includes(name as string));
  const types = [...new Set(named)];
  if (types.length > 0) return { type: types.length === 1 ? types[0] : types };
  if (isObject(properties)) return { type: "object" };
  return isObject(items) ? { type: "array" } : {};
}

function pickValues(schema: JsonObject): ModelSchema {
  const { enum: values, example, examples } = schema;
  const firstExample = example ?? (Array.isArray(examples) ? examples[0] : undefined);
  return {
    ...(Array.isArray(values) && values.length > 0 ? { enum: removeDuplicates(values) } : {}),
    ...omitUndefined({ const: schema["const"] }),
    ...(isShort(schema["default"]) ? { default: schema["default"] } : {}),
    ...(isShort(firstExample) ? { examples: [firstExample] } : {}),
  };
}

function removeDuplicates(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function isShort(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    (JSON.stringify(value)?.length ?? MAX_VALUE_CHARS) < MAX_VALUE_CHARS
  );
}

/** In 3.0, `exclusiveMinimum: true` makes `minimum` exclusive. */
function pickBounds(schema: JsonObject): ModelSchema {
  const bounds: Record<string, unknown> = {};
  for (const name of COUNT_KEYWORDS) {
    const value = schema[name];
    if (Number.isInteger(value) && (value as number) >= 0) bounds[name] = value;
  }
  for (const name of NUMBER_KEYWORDS) {
    const exclusive = `exclusive${name[0]?.toUpperCase()}${name.slice(1)}`;
    const [bound, specified] = [schema[name], schema[exclusive]];
    if (typeof specified === "number") bounds[exclusive] = specified;
    if (typeof bound === "number") bounds[specified === true ? exclusive : name] = bound;
  }
  const { multipleOf, pattern, uniqueItems } = schema;
  if (typeof multipleOf === "number" && multipleOf > 0) bounds["multipleOf"] = multipleOf;
  if (typeof pattern === "string" && isPortablePattern(pattern)) bounds["pattern"] = pattern;
  if (uniqueItems === true) bounds["uniqueItems"] = true;
  return bounds;
}

/** Patterns in other regular expression dialects are dropped: JSON Schema readers would fail on them. */
function isPortablePattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

function pickMembers(schema: JsonObject, { schema: inner, isReadOnly }: InnerSchemas): ModelSchema {
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
    const writable = new Set(wanted?.map(([name]) => name));
    const names = required.filter(
      (name) => typeof name === "string" && (writable.has(name) || !dropped.includes(name)),
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

function pickChoices(schema: JsonObject, { schema: inner }: InnerSchemas): ModelSchema {
  const choices: Record<string, unknown> = {};
  for (const name of CHOICE_KEYWORDS) {
    const members = schema[name];
    if (Array.isArray(members) && members.length > 0) choices[name] = members.map(inner);
  }
  if (isObject(schema["not"])) choices["not"] = inner(schema["not"]);
  return choices;
}

function pickParts(schema: JsonObject, { schema: inner }: InnerSchemas): readonly ModelSchema[] {
  const { allOf } = schema;
  return Array.isArray(allOf) ? allOf.map(inner).filter((part) => Object.keys(part).length > 0) : [];
}

/** Merges parts without contradictions into one object schema, which every vendor supports. Others stay separate. */
function mergeParts(own: ModelSchema, parts: readonly ModelSchema[]): ModelSchema {
  if (parts.length === 0) return own;
  let whole = own;
  for (const part of parts) {
    const both = joinSchemas(whole, part);
    if (both === undefined) return { ...own, allOf: parts };
    whole = both;
  }
  return whole;
}

const SINGLE_KEYWORDS = ["description", "title", "default", "examples", "deprecated"];

function joinSchemas(whole: ModelSchema, part: ModelSchema): ModelSchema | undefined {
  const result: Record<string, unknown> = { ...whole };
  for (const [key, value] of Object.entries(part)) {
    const there = result[key];
    if (there === undefined) result[key] = value;
    else if (SINGLE_KEYWORDS.includes(key) || JSON.stringify(there) === JSON.stringify(value)) continue;
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
  // A closed object in one part would forbid the properties of the others.
  const closes = (schema: ModelSchema) => schema["additionalProperties"] === false;
  return closes(whole) !== closes(part) ? undefined : result;
}

/** Converts `nullable` of 3.0 to the form of 3.1. */
function makeNullable(schema: JsonObject, keywords: ModelSchema): ModelSchema {
  if (schema["nullable"] !== true) return keywords;
  const { type, enum: values } = keywords;
  if (typeof type !== "string") {
    if (Array.isArray(type)) return { ...keywords, type: [...new Set([...type, "null"])] };
    const { description, ...rest } = keywords;
    if (Object.keys(rest).length === 0) return keywords;
    return { ...omitUndefined({ description }), anyOf: [rest, { type: "null" }] };
  }
  return {
    ...keywords,
    type: [type, "null"],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}
