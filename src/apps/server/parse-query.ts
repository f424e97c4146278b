import type { ZodType, z } from "zod";
import { check } from "../../schema/check.ts";
import { ServerProblem } from "./problem.ts";

/** @throws {ServerProblem} With every problem of the query. */
export function parseQuery<Schema extends ZodType>(
  schema: Schema,
  found: Record<string, string>,
): z.output<Schema> {
  const checked = check(schema, found, "query");
  if (checked.ok) return checked.value;
  const { problems } = checked;
  throw new ServerProblem("query-invalid", `The query is not valid: ${problems.join("; ")}.`, { problems });
}
