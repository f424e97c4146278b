import type { ErrorObject } from "ajv/dist/2020.js";
import { misfits } from "./judge.ts";
import { isObject, type JsonSchema, propertiesOf, type SchemaType, typesOf } from "./schema-type.ts";

/** More would not be mended at once. */
const MAX_NAMED = 5;

/** Several may be said in the same words. */
const MAX_DESCRIBED = 10 * MAX_NAMED;

/** Of a text that the model wrote: enough to recognise it. */
const MAX_SHOWN_CHARACTERS = 40;

const WORDS: Record<SchemaType, string> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

/** Field, found and expected of everything that does not fit; `undefined` when the schema finds nothing. */
export function describeMisfits(value: unknown, schema: JsonSchema): string | undefined {
  const all = misfits(value, schema);
  if (all.length === 0) return undefined;
  const ofForms = all.filter(({ schemaPath }) => !/\/(anyOf|oneOf)\//.test(schemaPath));
  const said = (ofForms.length === 0 ? all : ofForms).slice(0, MAX_DESCRIBED).map(describe);
  const unknown = unknownFields(value, schema);
  const extra = unknown.length === 0 ? [] : [`unknown: ${unknown.slice(0, MAX_NAMED).join(", ")}`];
  return [...new Set(said)].slice(0, MAX_NAMED).concat(extra).join("; ");
}

/** Of the top level: a field that is missing is often one that has another name. */
function unknownFields(value: unknown, schema: JsonSchema): readonly string[] {
  const known = propertiesOf(schema);
  return isObject(value)
    ? Object.keys(value)
        .filter((name) => !Object.hasOwn(known, name))
        .map(shownName)
    : [];
}

function describe(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  const parameters = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required": {
      const missing = String(parameters["missingProperty"]);
      const schema = propertiesOf(error.parentSchema ?? {})[missing];
      return misfit(joined(path, missing), "nothing", isObject(schema) ? expectedOf(schema) : "a value");
    }
    case "additionalProperties": {
      const known = Object.keys(propertiesOf(error.parentSchema ?? {})).join(", ");
      const extra = joined(path, shownName(String(parameters["additionalProperty"])));
      return misfit(extra, "an unknown field", known === "" ? "no fields" : `only ${known}`);
    }
    case "type":
    case "enum":
    case "const":
      return misfit(path, shown(error.data), expectedOf(error.parentSchema ?? {}));
    case "anyOf":
    case "oneOf":
      return misfit(path, shown(error.data), "one of the forms in the tool's schema");
    default:
      return misfit(path, shown(error.data), (error.message ?? "another value").replace(/^must (be )?/, ""));
  }
}

export function misfit(field: string, found: string, expected: string): string {
  return `${field === "" ? "arguments" : field}: found ${found}, expected ${expected}`;
}

function expectedOf(schema: object): string {
  const { enum: values, const: only } = schema as JsonSchema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return `one of ${values.map((one) => JSON.stringify(one)).join(", ")}`;
  const types = typesOf(schema as JsonSchema);
  return types.length === 0 ? "a value" : types.map((type) => WORDS[type]).join(" or ");
}

function shown(value: unknown): string {
  if (typeof value === "string") {
    return value.length > MAX_SHOWN_CHARACTERS
      ? `a text of ${value.length} characters`
      : `the text ${JSON.stringify(value)}`;
  }
  if (typeof value === "number") return `the number ${value}`;
  if (Array.isArray(value)) return "a list";
  return isObject(value) ? "an object" : String(value);
}

/** A field's name as it may be told: models make names of any length. */
export function shownName(name: string): string {
  return name.length > MAX_SHOWN_CHARACTERS ? `${name.slice(0, MAX_SHOWN_CHARACTERS)}...` : name;
}

export function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
