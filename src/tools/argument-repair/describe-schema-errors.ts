import type { ErrorObject } from "ajv/dist/2020.js";
import { findSchemaErrors } from "../../platform/json-schema/schema-validator.ts";
import { isObject } from "../../platform/text/json.ts";
import {
  getProperties,
  getTypes,
  type JsonSchema,
  type SchemaType,
} from "../../platform/text/schema-type.ts";

/** A model does not fix more than these at once. */
const MAX_REPORTED_ERRORS = 5;

/** Several errors may have the same description. */
const MAX_EXAMINED_ERRORS = 10 * MAX_REPORTED_ERRORS;

/** The limit for a text that the model wrote: enough to recognise it. */
const MAX_SHOWN_CHARACTERS = 40;

const TYPE_NAMES: Record<SchemaType, string> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

/** Describes each mismatch by field, found and expected. Returns `undefined` if the value fits the schema. */
export function describeSchemaErrors(value: unknown, schema: JsonSchema): string | undefined {
  const all = findSchemaErrors(value, schema);
  if (all.length === 0) return undefined;
  const choiceErrors = all.filter(({ schemaPath }) => !/\/(anyOf|oneOf)\//.test(schemaPath));
  const sentences = (choiceErrors.length === 0 ? all : choiceErrors)
    .slice(0, MAX_EXAMINED_ERRORS)
    .map(describeError);
  const unknown = listUnknownFields(value, schema);
  const extra = unknown.length === 0 ? [] : [`unknown: ${unknown.slice(0, MAX_REPORTED_ERRORS).join(", ")}`];
  return [...new Set(sentences)].slice(0, MAX_REPORTED_ERRORS).concat(extra).join("; ");
}

/** Lists unknown fields at the top level. A missing field often has another name. */
function listUnknownFields(value: unknown, schema: JsonSchema): readonly string[] {
  const known = getProperties(schema);
  return isObject(value)
    ? Object.keys(value)
        .filter((name) => !Object.hasOwn(known, name))
        .map(formatName)
    : [];
}

function describeError(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  const parameters = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required": {
      const missing = String(parameters["missingProperty"]);
      const schema = getProperties(error.parentSchema ?? {})[missing];
      return formatMismatch(
        joinPath(path, missing),
        "nothing",
        isObject(schema) ? describeExpected(schema) : "a value",
      );
    }
    case "additionalProperties": {
      const known = Object.keys(getProperties(error.parentSchema ?? {})).join(", ");
      const extra = joinPath(path, formatName(String(parameters["additionalProperty"])));
      return formatMismatch(extra, "an unknown field", known === "" ? "no fields" : `only ${known}`);
    }
    case "type":
    case "enum":
    case "const":
      return formatMismatch(path, formatValue(error.data), describeExpected(error.parentSchema ?? {}));
    case "anyOf":
    case "oneOf":
      return formatMismatch(path, formatValue(error.data), "one of the forms in the tool's schema");
    default:
      return formatMismatch(
        path,
        formatValue(error.data),
        (error.message ?? "another value").replace(/^must (be )?/, ""),
      );
  }
}

export function formatMismatch(field: string, found: string, expected: string): string {
  return `${field === "" ? "arguments" : field}: found ${found}, expected ${expected}`;
}

function describeExpected(schema: object): string {
  const { enum: values, const: only } = schema as JsonSchema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return `one of ${values.map((one) => JSON.stringify(one)).join(", ")}`;
  const types = getTypes(schema as JsonSchema);
  return types.length === 0 ? "a value" : types.map((type) => TYPE_NAMES[type]).join(" or ");
}

function formatValue(value: unknown): string {
  if (typeof value === "string") {
    return value.length > MAX_SHOWN_CHARACTERS
      ? `text of ${value.length} characters`
      : `the text ${JSON.stringify(value)}`;
  }
  if (typeof value === "number") return `the number ${value}`;
  if (Array.isArray(value)) return "a list";
  return isObject(value) ? "an object" : String(value);
}

/** Formats a field's name for a message, cut to size: models make names of any length. */
export function formatName(name: string): string {
  return name.length > MAX_SHOWN_CHARACTERS ? `${name.slice(0, MAX_SHOWN_CHARACTERS)}...` : name;
}

export function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
