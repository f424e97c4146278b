import type { z } from "zod";
import { nearestName } from "../../platform/text/nearest-name.ts";
import type { Problem } from "../problem.ts";
import { foundText } from "../problem.ts";
import { type Path, pathText, type Step } from "../source/node.ts";
import type { SourceFile } from "../source/source-file.ts";
import { isMcpReference } from "./fields/mcp.ts";
import { AUTH_SECRETS } from "./fields/openapi.ts";
import { expectedBy, keysOf, schemaAt } from "./json-schema.ts";
import { AgentFile } from "./schema.ts";
import { at, without } from "./table.ts";

export type Validated = {
  readonly problems: readonly Problem[];
  /** What is left when all that is wrong is taken out. */
  readonly value: Record<string, unknown>;
};

/** Where a key that nobody knows would loosen what an agent may do, if it were passed over. */
const STRICT_SECTIONS = [
  "permissions",
  "approvals",
  "callbacks",
  "hooks",
  "execution",
  "delegation",
  "mode",
  "mcp",
  "openapi",
];

/** Holds a file against the schema of its format, and says everything at once. */
export function validate(source: SourceFile): Validated {
  const parsed = AgentFile.safeParse(source.value);
  if (parsed.success) return { problems: [], value: source.value };
  const issues = parsed.error.issues.flatMap((issue) => flattened(issue, source.value));
  const sound = issues.filter(({ path }) => !isBroken(source, path as Path));
  return {
    problems: sound.flatMap((issue) => problemsOf(issue, source)),
    value: without(source.value, issues.flatMap(wrongPaths)) as Record<string, unknown>,
  };
}

type Issue = z.core.$ZodIssue;

/** Of a choice, the issues of the one alternative that was meant, where that can be known. */
function flattened(issue: Issue, value: unknown): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const path = issue.path as Step[];
  const possible = issue.errors.filter((errors) => !errors.some(refusesWhole));
  const complete = possible.filter((errors) => !errors.some((inner) => isMissing(inner, at(value, path))));
  const meant = possible.length === 1 ? possible[0] : complete.length === 1 ? complete[0] : undefined;
  if (meant === undefined) return [issue];
  return meant
    .map((inner) => ({ ...inner, path: [...path, ...inner.path] }) as Issue)
    .flatMap((inner) => flattened(inner, value));
}

/** The value is of another kind, so the alternative was not meant. */
function refusesWhole(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === "invalid_union") return issue.errors.every((errors) => errors.some(refusesWhole));
  return issue.code === "invalid_type" || issue.code === "invalid_value";
}

/** The alternative wants a key that is not there. */
function isMissing({ path }: Issue, value: unknown): boolean {
  return path.length === 1 && at(value, path as Step[]) === undefined;
}

function wrongPaths(issue: Issue): readonly Path[] {
  const path = issue.path as Step[];
  return issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
}

function isBroken(source: SourceFile, path: Path): boolean {
  return path.some((_, index) => source.broken.has(pathText(path.slice(0, index + 1))));
}

/** Of one table; who has mistaken more keys than these has another file in hand. */
const MAX_UNKNOWN_KEYS = 100;

function problemsOf(issue: Issue, source: SourceFile): readonly Problem[] {
  const path = issue.path as Step[];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, MAX_UNKNOWN_KEYS).map((key) => unknownKey(source, path, key));
  }
  const found = at(source.value, path);
  const expected = expectedAt(path, issue);
  if (found === undefined) {
    const name = String(path.at(-1));
    const message = `${name} is missing: ${expected}`;
    return [source.problem(path, { kind: "invalid-field", severity: "error", expected, message })];
  }
  const schema = schemaAt(path);
  const nearest = typeof found === "string" ? nearestName(found, wordsOf(schema)) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  const shown = isSecretField(path) ? "" : `, found ${foundText(found)}`;
  return [
    source.problem(path, {
      kind: "invalid-field",
      severity: "error",
      found,
      expected,
      ...(nearest === undefined ? {} : { nearest }),
      message: `expected ${expected}${shown}${hint}`,
    }),
  ];
}

function expectedAt(path: Path, issue: Issue): string {
  const schema = schemaAt(path);
  // A rule of its own says more than a type does.
  if (issue.code === "custom" || issue.message.startsWith("must "))
    return issue.message.replace(/^must be /, "");
  return schema === undefined ? issue.message : expectedBy(schema);
}

function wordsOf(schema: ReturnType<typeof schemaAt>): readonly string[] {
  const words = [...(schema?.enum ?? []), schema?.const].filter((word) => typeof word === "string");
  const expected = schema?.anyOf?.flatMap(wordsOf) ?? [];
  const named = [...(schema?.expected ?? "").matchAll(/"([a-z]+)"/g)].map(([, word]) => word!);
  return [...words, ...expected, ...named];
}

function unknownKey(source: SourceFile, path: Path, key: string): Problem {
  const known = keysOf(schemaAt(path)).filter((name) => !(name in (at(source.value, path) as object)));
  const nearest = nearestName(key, known);
  const strict = path.some((step) => STRICT_SECTIONS.includes(String(step))) || isRule(path);
  const words = nearest === undefined ? `; known here: ${known.join(", ")}` : `; did you mean "${nearest}"?`;
  return source.problem([...path, key], {
    kind: "unknown-key",
    severity: strict ? "error" : "warning",
    at: "key",
    expected: known.join(", "),
    ...(nearest === undefined ? {} : { nearest }),
    message: `unknown key${strict ? "" : ", not used"}${words}`,
  });
}

function isRule(path: Path): boolean {
  return path.includes("rules");
}

/** Whether a value is a key, or may hold one. */
export function isSecretField(path: Path): boolean {
  const [holder, key] = [path.at(-2), path.at(-1)];
  if (holder === "auth" && path[path.length - 5] === "openapi") return AUTH_SECRETS.includes(String(key));
  return key === "api_key" || holder === "headers" || isMcpReference(path);
}
