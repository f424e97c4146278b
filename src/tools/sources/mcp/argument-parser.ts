import type { ErrorObject, ValidateFunction } from "ajv";
import { loadAjv, loadAjv2020 } from "../../../platform/lazy-packages.ts";
import { asObject } from "../../../platform/text/json.ts";
import type { ParsedArguments } from "../../tool.ts";

/**
 * A malicious pattern may take hours to match a short text and block the whole worker. The server, whose
 * pattern it is, checks it.
 */
const anyText = Object.assign(() => ({ test: () => true }), { code: "anyText" });

const AJV_OPTIONS = {
  strict: false,
  validateFormats: false,
  validateSchema: false,
  logger: false,
  code: { regExp: anyText },
} as const;

const MAX_REPORTED_ERRORS = 5;

/** Creates a check of arguments against a tool's schema. With an unusable schema every object passes: the server judges. */
export function createArgumentParser(
  schema: Readonly<Record<string, unknown>>,
): (value: unknown) => ParsedArguments {
  let validate: ValidateFunction | undefined | "unusable";
  return (value) => {
    if (asObject(value) === undefined) return { ok: false, message: "arguments: expected a JSON object" };
    validate ??= compileSchema(schema) ?? "unusable";
    if (validate === "unusable" || matchesSchema(validate, value)) return { ok: true, value };
    return {
      ok: false,
      message: (validate.errors ?? []).slice(0, MAX_REPORTED_ERRORS).map(formatSchemaError).join("; "),
    };
  };
}

/** A schema that refers to itself would be evaluated forever. */
function matchesSchema(validate: ValidateFunction, value: unknown): boolean {
  try {
    return validate(value);
  } catch {
    return true;
  }
}

function compileSchema(schema: Readonly<Record<string, unknown>>): ValidateFunction | undefined {
  const { $schema: dialect, $id: _, ...bare } = schema;
  const old = typeof dialect === "string" && /draft-0[4-7]/.test(dialect);
  try {
    const { Ajv } = old ? loadAjv() : { Ajv: loadAjv2020().Ajv2020 };
    return new Ajv(AJV_OPTIONS).compile(bare);
  } catch {
    return undefined;
  }
}

function formatSchemaError({ instancePath, message, params }: ErrorObject): string {
  const field = instancePath.split("/").filter(Boolean).join(".");
  const extra = formatErrorParams(params);
  return `${field === "" ? "arguments" : field}: ${message ?? "does not fit"}${extra}`;
}

function formatErrorParams(params: ErrorObject["params"]): string {
  const { additionalProperty, allowedValues } = params as Record<string, unknown>;
  if (typeof additionalProperty === "string") return ` ("${additionalProperty}")`;
  return Array.isArray(allowedValues) ? ` (${allowedValues.slice(0, 20).join(", ")})` : "";
}
