import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema } from "./schema-type.ts";

// A tool's own `parse` decides what runs. The JSON schema is asked where `parse` cannot be: which form of a choice a
// value fits, and what exactly does not fit.

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  strict: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
});

const compiled = new WeakMap<object, ValidateFunction | "unusable">();

/** `undefined` when the schema is one that cannot be used. */
function validator(schema: JsonSchema, root: JsonSchema): ValidateFunction | undefined {
  let known = compiled.get(schema);
  if (known === undefined) {
    known = compile(schema, root) ?? "unusable";
    compiled.set(schema, known);
  }
  return known === "unusable" ? undefined : known;
}

function compile(schema: JsonSchema, root: JsonSchema): ValidateFunction | undefined {
  const { $schema: _, $id: __, ...rest } = schema;
  try {
    return ajv.compile({ ...(root["$defs"] === undefined ? {} : { $defs: root["$defs"] }), ...rest });
  } catch {
    return undefined;
  }
}

export function fits(value: unknown, schema: JsonSchema, root: JsonSchema): boolean {
  return validator(schema, root)?.(value) === true;
}

/** What does not fit, for a whole value; empty when it fits or the schema cannot tell. */
export function misfits(value: unknown, schema: JsonSchema): readonly ErrorObject[] {
  const validate = validator(schema, schema);
  if (validate === undefined || validate(value)) return [];
  return validate.errors ?? [];
}
