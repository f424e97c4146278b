import type { Ajv2020 } from "ajv/dist/2020.js";
import { loadAjv2020 } from "../../platform/lazy-packages.ts";
import type { JsonSchema } from "../../platform/text/schema-type.ts";

const MAX_REASON_CHARS = 300;

/** Compiling a schema takes milliseconds, and each loop of an agent uses the same schemas. */
const known = new WeakMap<JsonSchema, { readonly problem: string | undefined }>();

const settings = { strict: false, validateFormats: false, logger: false } as const;

/** Compiles the meta-schema once. */
let ofSchemas: Ajv2020 | undefined;

/** Returns the reason why a JSON Schema (2020-12) cannot be used, or `undefined` if it can. */
export function findSchemaProblem(schema: JsonSchema): string | undefined {
  const found = known.get(schema) ?? { problem: compileProblem(schema) };
  known.set(schema, found);
  return found.problem;
}

function compileProblem(schema: JsonSchema): string | undefined {
  const { $schema: _, $id: __, ...bare } = schema;
  const { Ajv2020 } = loadAjv2020();
  ofSchemas ??= new Ajv2020(settings);
  try {
    if (ofSchemas.validateSchema(bare) !== true)
      return truncateReason(ofSchemas.errorsText(ofSchemas.errors, { dataVar: "schema" }));
    // Names within a schema belong to it alone: each schema is compiled separately.
    new Ajv2020({ ...settings, validateSchema: false }).compile(bare);
    return undefined;
  } catch (error) {
    return truncateReason(error instanceof Error ? error.message : String(error));
  }
}

function truncateReason(reason: string): string {
  return reason.length > MAX_REASON_CHARS ? `${reason.slice(0, MAX_REASON_CHARS)}...` : reason;
}
