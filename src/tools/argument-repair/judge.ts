import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema } from "./schema-type.ts";

// A tool's own `parse` decides what runs. The JSON schema is asked where `parse` cannot be: which form of a choice a
// value fits, and what exactly does not fit.

const settings = {
  verbose: true,
  strict: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
} as const;

type Judge = { readonly ajv: Ajv2020; readonly compiled: WeakMap<object, ValidateFunction | "unusable"> };

const judgeOfAll: Judge = { ajv: new Ajv2020({ ...settings, allErrors: true }), compiled: new WeakMap() };
const judgeOfFirst: Judge = { ajv: new Ajv2020(settings), compiled: new WeakMap() };

/** Of one value, members counted: in a larger one, all that does not fit may be more than a process can hold. */
const MAX_JUDGED_WHOLE = 10_000;

/** `undefined` when the schema is one that cannot be used. */
function validator(
  schema: JsonSchema,
  root: JsonSchema,
  { ajv, compiled }: Judge,
): ValidateFunction | undefined {
  let known = compiled.get(schema);
  if (known === undefined) {
    known = compile(schema, root, ajv) ?? "unusable";
    compiled.set(schema, known);
  }
  return known === "unusable" ? undefined : known;
}

function compile(schema: JsonSchema, root: JsonSchema, ajv: Ajv2020): ValidateFunction | undefined {
  const { $schema: _, $id: __, ...rest } = schema;
  try {
    return ajv.compile({ ...(root["$defs"] === undefined ? {} : { $defs: root["$defs"] }), ...rest });
  } catch {
    return undefined;
  }
}

export function fits(value: unknown, schema: JsonSchema, root: JsonSchema): boolean {
  return validator(schema, root, judgeOfFirst)?.(value) === true;
}

/** What does not fit, for a whole value, of a large one the first; empty when it fits or the schema cannot tell. */
export function misfits(value: unknown, schema: JsonSchema): readonly ErrorObject[] {
  const judge = membersUpTo(value, MAX_JUDGED_WHOLE) === MAX_JUDGED_WHOLE ? judgeOfFirst : judgeOfAll;
  const validate = validator(schema, schema, judge);
  if (validate === undefined || validate(value)) return [];
  return validate.errors ?? [];
}

function membersUpTo(value: unknown, limit: number): number {
  const left: unknown[] = [value];
  let counted = 0;
  while (left.length > 0 && counted < limit) {
    counted += 1;
    const one = left.pop();
    if (typeof one !== "object" || one === null) continue;
    const members = Object.values(one);
    for (let at = 0; at < members.length && at < limit; at += 1) left.push(members[at]);
  }
  return counted;
}
