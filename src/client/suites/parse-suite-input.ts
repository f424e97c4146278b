import type { ZodType } from "zod";
import { check } from "../../schema/check.ts";
import { HoldfastError } from "../holdfast-error.ts";

/**
 * Parses an input about a run of a suite.
 *
 * @param what - The subject of the error.
 * @throws HoldfastError with the code `input-invalid`, which names each problem.
 */
export function parseSuiteInput<Value>(schema: ZodType<Value>, value: unknown, what: string): Value {
  const checked = check(schema, value, "");
  if (checked.ok) return checked.value;
  const { problems } = checked;
  throw new HoldfastError("input-invalid", `${what} is not valid: ${problems.join("; ")}.`, { problems });
}
