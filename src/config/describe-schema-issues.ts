import type { z } from "zod";
import { findNearestName } from "../platform/text/nearest-name.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import { findMeantIssues, listKeys } from "../schema/check.ts";
import type { Problem } from "./problem.ts";
import type { SourceFile } from "./source/source-file.ts";
import type { Path } from "./source/source-node.ts";

/** What creates problems at the places of a value. */
export type ProblemPlace = Pick<SourceFile, "createProblem">;

/** Describes what a schema rejects in a file: each problem with its place, and an unknown key with the one that was meant. */
export function describeSchemaIssues(
  issues: readonly z.core.$ZodIssue[],
  source: ProblemPlace,
  schema: z.ZodType,
): readonly Problem[] {
  return issues.flatMap(findMeantIssues).flatMap((issue) => toProblems(issue, source, schema));
}

function toProblems(issue: z.core.$ZodIssue, source: ProblemPlace, schema: z.ZodType): readonly Problem[] {
  const path = issue.path as Path;
  if (issue.code !== "unrecognized_keys") {
    const { message } = issue;
    return [source.createProblem(path, { kind: "invalid-field", severity: "error", message })];
  }
  const known = listKeys(schema, issue.path);
  return issue.keys.map((key) => createUnknownKeyProblem(source, [...path, key], known));
}

/** Creates the problem of a key that its table does not have. @param suggestion - What to write instead, if that is certain. */
export function createUnknownKeyProblem(
  source: ProblemPlace,
  path: Path,
  known: readonly string[],
  suggestion?: string,
): Problem {
  const nearest = findNearestName(String(path.at(-1)), known);
  const hint = nearest === undefined ? `known here: ${known.join(", ")}` : `did you mean "${nearest}"?`;
  return source.createProblem(path, {
    kind: "unknown-key",
    severity: "error",
    path: "key",
    expected: known.join(", "),
    ...omitUndefined({ nearest }),
    message: `unknown key; ${suggestion ?? hint}`,
  });
}
