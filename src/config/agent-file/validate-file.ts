import type { z } from "zod";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Problem } from "../problem.ts";
import { formatFound } from "../problem.ts";
import type { SourceFile } from "../source/source-file.ts";
import { formatPath, type Path, type Step } from "../source/source-node.ts";
import { AgentFile } from "./agent-file-schema.ts";
import { isMcpReference } from "./fields/mcp.ts";
import { AUTH_SECRETS } from "./fields/openapi.ts";
import { findSchemaAt, formatExpected } from "./json-schema.ts";
import { getAt, omitPaths } from "./table-paths.ts";
import { createUnknownKeyProblem } from "./unknown-key.ts";

export type Validated = {
  readonly problems: readonly Problem[];
  /** The file's value without its invalid parts. */
  readonly value: Record<string, unknown>;
};

/** Validates a file against the schema of its format and collects all problems. */
export function validateFile(source: SourceFile): Validated {
  const parsed = AgentFile.safeParse(source.value);
  if (parsed.success) return { problems: [], value: source.value };
  const issues = parsed.error.issues.flatMap((issue) => flattenIssue(issue, source.value));
  const sound = issues.filter(({ path }) => !isBroken(source, path as Path));
  return {
    problems: sound.flatMap((issue) => toProblems(issue, source)),
    value: omitPaths(source.value, issues.flatMap(getIssuePaths)) as Record<string, unknown>,
  };
}

type Issue = z.core.$ZodIssue;

/** Replaces the issue of a union by the issues of the alternative that was meant, if only one is possible. */
function flattenIssue(issue: Issue, value: unknown): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const path = issue.path as Step[];
  const possible = issue.errors.filter((errors) => !errors.some(rejectsWholeValue));
  const complete = possible.filter((errors) => !errors.some((inner) => isMissing(inner, getAt(value, path))));
  const chosen = possible.length === 1 ? possible[0] : complete.length === 1 ? complete[0] : undefined;
  if (chosen === undefined) return [issue];
  return chosen
    .map((inner) => ({ ...inner, path: [...path, ...inner.path] }) as Issue)
    .flatMap((inner) => flattenIssue(inner, value));
}

/** Checks whether the value has another type, so that the alternative was not meant. */
function rejectsWholeValue(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === "invalid_union") return issue.errors.every((errors) => errors.some(rejectsWholeValue));
  return issue.code === "invalid_type" || issue.code === "invalid_value";
}

/** Checks whether the alternative requires a key that is absent. */
function isMissing({ path }: Issue, value: unknown): boolean {
  return path.length === 1 && getAt(value, path as Step[]) === undefined;
}

function getIssuePaths(issue: Issue): readonly Path[] {
  const path = issue.path as Step[];
  return issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
}

function isBroken(source: SourceFile, path: Path): boolean {
  return path.some((_, index) => source.hasMissingVariables.has(formatPath(path.slice(0, index + 1))));
}

/** The maximum number of unknown keys that are reported for one table. */
const MAX_UNKNOWN_KEYS = 100;

function toProblems(issue: Issue, source: SourceFile): readonly Problem[] {
  const path = issue.path as Step[];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, MAX_UNKNOWN_KEYS).map((key) => createUnknownKeyProblem(source, path, key));
  }
  const found = getAt(source.value, path);
  const expected = describeExpected(path, issue);
  const about = { kind: "invalid-field", severity: "error", expected } as const;
  // A rule about several keys says in its own words what is wrong.
  if (issue.code === "custom" && !issue.message.startsWith("must "))
    return [source.createProblem(path, { ...about, message: issue.message })];
  if (found === undefined)
    return [
      source.createProblem(path, { ...about, message: `${String(path.at(-1))} is missing: ${expected}` }),
    ];
  const schema = findSchemaAt(path);
  const nearest = typeof found === "string" ? findNearestName(found, listAllowedWords(schema)) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  const isHidden = isSecretField(path) || (typeof found === "object" && mayContainSecrets(path));
  const displayed = isHidden ? "" : `, found ${formatFound(found)}`;
  return [
    source.createProblem(path, {
      ...about,
      ...(isHidden ? {} : { found }),
      ...omitUndefined({ nearest }),
      message: `expected ${expected}${displayed}${hint}`,
    }),
  ];
}

function describeExpected(path: Path, issue: Issue): string {
  const schema = findSchemaAt(path);
  // A custom rule is more specific than a type.
  if (issue.code === "custom" || issue.message.startsWith("must "))
    return issue.message.replace(/^must be /, "");
  return schema === undefined ? "a value that this field allows" : formatExpected(schema);
}

function listAllowedWords(schema: ReturnType<typeof findSchemaAt>): readonly string[] {
  const literals = [...(schema?.enum ?? []), schema?.const].filter((word) => typeof word === "string");
  const alternatives = schema?.anyOf?.flatMap(listAllowedWords) ?? [];
  const named = [...(schema?.expected ?? "").matchAll(/"([a-z]+)"/g)].map(([, word]) => word!);
  return [...literals, ...alternatives, ...named];
}

/** Checks whether a table of this section may contain secrets, so that problems do not display it. */
function mayContainSecrets(path: Path): boolean {
  return path.some((step) => ["provider", "fallbacks", "mcp", "openapi"].includes(String(step)));
}

/** Checks whether a field is a secret, or may contain one. */
export function isSecretField(path: Path): boolean {
  const [holder, key] = [path.at(-2), path.at(-1)];
  if (holder === "auth" && path[path.length - 5] === "openapi") return AUTH_SECRETS.includes(String(key));
  return key === "api_key" || holder === "headers" || isMcpReference(path);
}
