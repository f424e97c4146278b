import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { loadAjv2020 } from "../lazy-packages.ts";
import { omitUndefined } from "../text/omit-undefined.ts";
import type { JsonSchema } from "../text/schema-type.ts";

// A tool's own `parse` decides what runs. The JSON Schema answers what `parse` cannot: which alternative a value fits,
// and which parts do not fit.

const AJV_OPTIONS = {
  verbose: true,
  strict: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
} as const;

type SchemaValidator = {
  readonly getAjv: () => Ajv2020;
  readonly compiled: WeakMap<object, ValidateFunction | "unusable">;
};

const allErrorsValidator = createValidator({ ...AJV_OPTIONS, allErrors: true });
const firstErrorValidator = createValidator(AJV_OPTIONS);

function createValidator(options: typeof AJV_OPTIONS & { readonly allErrors?: true }): SchemaValidator {
  let ajv: Ajv2020 | undefined;
  const getAjv = () => {
    ajv ??= new (loadAjv2020().Ajv2020)(options);
    return ajv;
  };
  return { getAjv, compiled: new WeakMap() };
}

/** Loads the validator, for callers that limit the time of a check: on a busy machine loading takes longer than most checks. */
export function loadValidator(): void {
  firstErrorValidator.getAjv();
  allErrorsValidator.getAjv();
}

/** The limit in members of one value. All errors of a larger value may exceed the memory of a process. */
const MAX_FULLY_VALIDATED = 10_000;

/** Returns `undefined` if the schema cannot be used. */
function getValidateFunction(
  schema: JsonSchema,
  root: JsonSchema,
  { getAjv, compiled }: SchemaValidator,
): ValidateFunction | undefined {
  let known = compiled.get(schema);
  if (known === undefined) {
    known = compile(schema, root, getAjv()) ?? "unusable";
    compiled.set(schema, known);
  }
  return known === "unusable" ? undefined : known;
}

function compile(schema: JsonSchema, root: JsonSchema, ajv: Ajv2020): ValidateFunction | undefined {
  const { $schema: _, $id: __, ...rest } = schema;
  try {
    return ajv.compile({ ...omitUndefined({ $defs: root["$defs"] }), ...rest });
  } catch {
    return undefined;
  }
}

export function matchesSchema(value: unknown, schema: JsonSchema, root: JsonSchema): boolean {
  return getValidateFunction(schema, root, firstErrorValidator)?.(value) === true;
}

/** Finds all mismatches of a value, or the first one of a large value. Empty if it fits or the schema cannot tell. */
export function findSchemaErrors(value: unknown, schema: JsonSchema): readonly ErrorObject[] {
  const validator =
    countMembersUpTo(value, MAX_FULLY_VALIDATED) === MAX_FULLY_VALIDATED
      ? firstErrorValidator
      : allErrorsValidator;
  const validate = getValidateFunction(schema, schema, validator);
  if (validate === undefined || validate(value)) return [];
  return validate.errors ?? [];
}

function countMembersUpTo(value: unknown, limit: number): number {
  const pending: unknown[] = [value];
  let counted = 0;
  while (pending.length > 0 && counted < limit) {
    counted += 1;
    const one = pending.pop();
    if (typeof one !== "object" || one === null) continue;
    const members = Object.values(one);
    for (let at = 0; at < members.length && at < limit; at += 1) pending.push(members[at]);
  }
  return counted;
}
