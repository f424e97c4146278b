import type { z } from "zod";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { findMeantIssues, listKeys } from "../../schema/check.ts";
import { getAt } from "../agent-file/table-paths.ts";
import { createUnknownKeyProblem, describeSchemaIssues } from "../describe-schema-issues.ts";
import type { Problem } from "../problem.ts";
import type { SourceFile } from "../source/source-file.ts";
import type { Path } from "../source/source-node.ts";
import { FOREIGN_AXES, Matrix } from "./matrix-axes.ts";
import { listScorerKeys, toScorerKey } from "./scorer-table.ts";
import { CaseTable, SuiteFile } from "./suite-file-schema.ts";

/** Keys that other programs' files or earlier drafts of a user have, with what to write instead. */
const FOREIGN_KEYS: Readonly<Record<string, string>> = {
  agent: 'write agents = ["FILE"]',
  configurations: "write `agents`, or a section [matrix]",
  providers: "write `agents`, or `model` in [matrix]",
  prompts: "write `system_prompt` in [matrix]",
  dataset: "write `cases`",
  tests: "write `cases`",
  epochs: "write `repetitions`",
  repeat: "write `repetitions`",
  max_cost_usd: "write `max_cost`, in dollars",
};

/** Describes what the schema rejects in a suite file. @returns `invalid`: the paths of the values that must not be used. */
export function describeSuiteIssues(
  error: z.ZodError,
  source: SourceFile,
): { readonly problems: readonly Problem[]; readonly invalid: readonly Path[] } {
  const issues = error.issues.flatMap(findMeantIssues);
  const problems = issues.flatMap((issue) => describeIssue(issue, source));
  const invalid = issues.flatMap(({ path, ...issue }) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key] as Path) : [path as Path],
  );
  return { problems, invalid };
}

function describeIssue(issue: z.core.$ZodIssue, source: SourceFile): readonly Problem[] {
  const path = issue.path as Path;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => describeUnknownKey(source, path, key));
  }
  const [problem] = describeSchemaIssues([issue], source, SuiteFile);
  const found = getAt(source.value, path);
  const allowed = listAllowedWords(issue);
  const nearest = typeof found === "string" ? findNearestName(found, allowed) : undefined;
  if (problem === undefined || nearest === undefined) return problem === undefined ? [] : [problem];
  return [{ ...problem, nearest, message: `${problem.message}; did you mean "${nearest}"?` }];
}

function listAllowedWords(issue: z.core.$ZodIssue): readonly string[] {
  const values =
    issue.code === "invalid_value"
      ? issue.values
      : issue.code === "invalid_union"
        ? ((issue as { readonly options?: readonly unknown[] }).options ?? [])
        : [];
  return values.filter((value) => typeof value === "string");
}

function describeUnknownKey(source: SourceFile, path: Path, key: string): Problem {
  const [section, index] = path;
  const at = [...path, key];
  if (path.length === 0) {
    const known = Object.keys(SuiteFile.shape).filter((name) => name !== "$schema");
    return createUnknownKeyProblem(source, at, known, FOREIGN_KEYS[key]);
  }
  if (section === "matrix" && path.length === 1) {
    return createUnknownKeyProblem(source, at, Object.keys(Matrix.shape), suggestAxis(key));
  }
  if (section === "scorers" && path.length === 2) {
    const known = listScorerKeys(getAt(source.value, ["scorers", index!, "type"]));
    const snake = toScorerKey(key);
    const suggestion = snake !== key && known.includes(snake) ? `did you mean "${snake}"?` : undefined;
    return createUnknownKeyProblem(source, at, known, ...(suggestion === undefined ? [] : [suggestion]));
  }
  return createUnknownKeyProblem(
    source,
    at,
    section === "cases" ? listKeys(CaseTable, path.slice(2)) : listKeys(SuiteFile, path),
  );
}

function suggestAxis(key: string): string | undefined {
  const foreign = FOREIGN_AXES[key];
  if (foreign !== undefined) return `did you mean "${foreign}"?`;
  const keys = Object.keys(Matrix.shape);
  const whole = keys.find((name) => name.startsWith(`${key}.`) || name.endsWith(`.${key}`));
  return whole === undefined ? undefined : `write the whole path as one quoted key, such as "${whole}"`;
}
