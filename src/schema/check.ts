import type { z } from "zod";
import { findNearestName } from "../platform/text/nearest-name.ts";

// Describes in sentences why a value does not match a schema: the location, the expected value, and the actual value.

export type CheckResult<Value> =
  | { readonly ok: true; readonly value: Value }
  /** Every problem, as one sentence each. */
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Parses a value, or returns every problem of it at once. Suggests the correct names of misspelt keys.
 *
 * @param root - The name of the value for problems with the whole of it: `body`, `definition`.
 */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  root: string,
): CheckResult<z.output<Schema>> {
  const parsed = schema.safeParse(input, { error: formatExpected });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, problems: describeIssues(parsed.error, schema, root) };
}

type Issue = z.core.$ZodIssue;

/** Describes every problem, as one sentence each. @param schema - Names the keys that may have been meant. */
export function describeIssues({ issues }: z.ZodError, schema: z.ZodType, root: string): readonly string[] {
  return issues.flatMap(findMeantIssues).flatMap((issue) => describeIssue(issue, schema, root));
}

function describeIssue(issue: Issue, schema: z.ZodType, root: string): readonly string[] {
  const place = issue.path.map(String).join(".");
  if (issue.code !== "unrecognized_keys") return [`${place || root}: ${issue.message}`];
  const known = listKeys(schema, issue.path);
  return issue.keys.map((key) => {
    const near = findNearestName(key, known);
    const hint = near === undefined ? `known keys: ${known.join(", ")}` : `did you mean "${near}"?`;
    return `${place === "" ? "" : `${place}.`}${key}: unknown key${known.length === 0 ? "" : `; ${hint}`}`;
  });
}

/** Returns the problems with the form of a union that the value matches most closely. */
export function findMeantIssues(issue: Issue): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const possible = issue.errors.filter((errors) => !errors.some(rejectsWholeValue));
  if (possible.length === 0) return [issue];
  const [closest = []] = [...possible].sort((one, other) => one.length - other.length);
  return closest.flatMap((inner) =>
    findMeantIssues({ ...inner, path: [...issue.path, ...inner.path] } as Issue),
  );
}

/** Reports whether the value is of another type, or declares itself to be another form. */
function rejectsWholeValue({ path, code }: Issue): boolean {
  if (code === "invalid_value") return path.length <= 1;
  return path.length === 0 && (code === "invalid_type" || code === "invalid_format");
}

/**
 * Replaces zod's own messages. A schema's own messages take precedence.
 *
 * Texts are not quoted, because one could be a key.
 */
export function formatExpected(issue: z.core.$ZodRawIssue): string | undefined {
  const came = getKind(issue.input);
  const say = (must: string) =>
    issue.input === undefined ? `is missing; it must be ${must}` : `must be ${must}, not ${came}`;
  switch (issue.code) {
    case "invalid_type":
      return say(KINDS[issue.expected] ?? `a value of type ${issue.expected}`);
    case "invalid_value":
      return say(formatChoices(issue.values.map((value) => JSON.stringify(value) ?? String(value))));
    case "too_small":
    case "too_big":
      return formatSize(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}, not ${came}`;
    case "invalid_format":
      return `must be ${FORMATS[issue.format] ?? `a text in the format ${issue.format}`}`;
    case "unrecognized_keys":
      return `has unknown keys: ${issue.keys.join(", ")}`;
    case "invalid_union":
      return formatUnionIssue(issue, came);
    case "invalid_key":
      return `has a key that is not allowed${formatKeyIssue(issue)}`;
    case "invalid_element":
      return "has a member that is not allowed";
    default:
      return undefined;
  }
}

function formatKeyIssue({ issues }: Raw<"invalid_key">): string {
  const [message] = issues.map((issue) => issue.message).filter((text) => text.startsWith("must "));
  return message === undefined ? "" : `: it ${message}`;
}

const KINDS: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  null: "null",
  nan: "no number",
  undefined: "omitted",
  never: "omitted",
  date: "a date",
};

const FORMATS: Readonly<Record<string, string>> = {
  url: "a URL such as https://HOST/v1",
  uuid: "a UUID",
  email: "an e-mail address",
  datetime: "a time such as 2026-09-23T12:00:00Z",
};

/** Describes the kind of a value in a sentence. */
export function getKind(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "number":
      return Number.isNaN(value) ? "a text" : String(value);
    case "boolean":
      return String(value);
    case "string":
      return value === "" ? "an empty text" : "a text";
    case "object":
      return "an object";
    default:
      return `a value of type ${typeof value}`;
  }
}

type Raw<Code> = Extract<z.core.$ZodRawIssue, { code: Code }>;

function formatSize(issue: Raw<"too_small"> | Raw<"too_big">): string {
  const { origin, input } = issue;
  const bound = String(issue.code === "too_small" ? issue.minimum : issue.maximum);
  if (origin === "string" || origin === "array" || origin === "set" || origin === "file") {
    const what = origin === "string" ? "characters" : "members";
    const size = (input as { readonly length?: number } | undefined)?.length;
    if (issue.code === "too_small" && bound === "1") return "must not be empty";
    const side = issue.code === "too_small" ? "at least" : "at most";
    return `must have ${side} ${bound} ${what}${size === undefined ? "" : `, not ${size}`}`;
  }
  const side = issue.code === "too_small" ? "above" : "below";
  const inclusive = issue.code === "too_small" ? "at least" : "at most";
  return `must be ${issue.inclusive === false ? side : inclusive} ${bound}, not ${getKind(input)}`;
}

/** Describes a value that matches none of several forms. */
function formatUnionIssue(issue: Raw<"invalid_union">, came: string): string {
  const { discriminator, options } = issue as { discriminator?: string; options?: readonly unknown[] };
  if (discriminator !== undefined && options !== undefined) {
    const value = (issue.input as Record<string, unknown> | undefined)?.[discriminator];
    const must = formatChoices(options.map((option) => JSON.stringify(option) ?? String(option)));
    return value === undefined ? `is missing; it must be ${must}` : `must be ${must}, not ${getKind(value)}`;
  }
  const kinds = issue.errors.flatMap((errors) =>
    errors.flatMap((inner) => {
      if (inner.path.length > 0) return [];
      if (inner.code === "invalid_type") return [KINDS[inner.expected] ?? inner.expected];
      return inner.code === "invalid_value"
        ? inner.values.map((value) => JSON.stringify(value) ?? String(value))
        : [];
    }),
  );
  if (kinds.length === 0) return "matches none of the allowed forms";
  const must = formatChoices([...new Set(kinds)]);
  return issue.input === undefined ? `is missing; it must be ${must}` : `must be ${must}, not ${came}`;
}

function formatChoices(choices: readonly string[]): string {
  if (choices.length < 2) return choices.join("");
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

/** Lists the keys of a schema's object at a path; for a union, those of all its forms; none below a union. */
export function listKeys(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let here = unwrap(schema);
  for (const step of path)
    here = unwrap(typeof step === "number" ? here?.def?.element : here?.shape?.[String(step)]);
  const forms = [here, ...(here?.def?.options ?? []).map(unwrap)];
  return [...new Set(forms.flatMap((form) => Object.keys(form?.shape ?? {})))];
}

type Shaped = {
  readonly shape?: Readonly<Record<string, unknown>>;
  /** For a list: the schema of its members. For a union: its forms. */
  readonly def?: { readonly element?: unknown; readonly options?: readonly unknown[] };
};
type Wrapped = { readonly def?: { readonly innerType?: unknown } };

/** Removes the wrappers for optional values and defaults. */
function unwrap(schema: unknown): Shaped | undefined {
  let inner = schema;
  while ((inner as Wrapped | undefined)?.def?.innerType !== undefined)
    inner = (inner as Wrapped).def?.innerType;
  return inner as Shaped | undefined;
}
