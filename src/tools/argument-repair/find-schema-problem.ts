import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonSchema } from "./schema-type.ts";

const MAX_REASON_CHARS = 300;

/** To compile a schema takes milliseconds, and each loop of an agent has the same one. */
const known = new WeakMap<JsonSchema, { readonly problem: string | undefined }>();

const settings = { strict: false, validateFormats: false, logger: false } as const;

/** Compiles the schema of schemas once. */
const ofSchemas = new Ajv2020(settings);

/** Why a JSON Schema (2020-12) cannot be used; `undefined` when it can. */
export function findSchemaProblem(schema: JsonSchema): string | undefined {
  const found = known.get(schema) ?? { problem: problemOf(schema) };
  known.set(schema, found);
  return found.problem;
}

function problemOf(schema: JsonSchema): string | undefined {
  const { $schema: _, $id: __, ...bare } = schema;
  try {
    if (ofSchemas.validateSchema(bare) !== true)
      return truncateReason(ofSchemas.errorsText(ofSchemas.errors, { dataVar: "schema" }));
    // Names within a schema are its own: nothing else is known to who compiles it.
    new Ajv2020({ ...settings, validateSchema: false }).compile(bare);
    return undefined;
  } catch (error) {
    return truncateReason(error instanceof Error ? error.message : String(error));
  }
}

function truncateReason(reason: string): string {
  return reason.length > MAX_REASON_CHARS ? `${reason.slice(0, MAX_REASON_CHARS)}...` : reason;
}
