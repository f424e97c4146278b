import type { z } from "zod";
import { nearestName } from "../core/nearest-name.ts";
import { AgentDefinition } from "../schema/definition.ts";

export type DefinitionCheck =
  | { readonly ok: true; readonly definition: AgentDefinition }
  /** Every problem, a sentence each. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Makes a definition whole, or says everything that is wrong with it at once; misspelt keys by name. */
export function checkDefinition(input: unknown): DefinitionCheck {
  const parsed = AgentDefinition.safeParse(input);
  if (parsed.success) return { ok: true, definition: parsed.data };
  return { ok: false, problems: describeIssues(parsed.error, AgentDefinition) };
}

/** Every problem, a sentence each. @param schema - That was not met: to say which key was probably meant. */
export function describeIssues({ issues }: z.ZodError, schema: z.ZodType): readonly string[] {
  return issues.flatMap((issue) => describe(issue, schema));
}

type Issue = z.core.$ZodIssue;

function describe(issue: Issue, schema: z.ZodType): readonly string[] {
  const place = issue.path.map(String).join(".");
  if (issue.code !== "unrecognized_keys") return [`${place || "definition"}: ${issue.message}`];
  const known = keysAt(schema, issue.path);
  return issue.keys.map((key) => {
    const meant = nearestName(key, known);
    const hint = meant === undefined ? `known keys: ${known.join(", ")}` : `did you mean "${meant}"?`;
    return `${place === "" ? "" : `${place}.`}${key}: unknown key${known.length === 0 ? "" : `; ${hint}`}`;
  });
}

/** The keys that an object of the schema may have at a path, in a choice those of all its forms; none behind a choice. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let here = bare(schema);
  for (const step of path)
    here = bare(typeof step === "number" ? here?.def?.element : here?.shape?.[String(step)]);
  const forms = [here, ...(here?.def?.options ?? []).map(bare)];
  return [...new Set(forms.flatMap((form) => Object.keys(form?.shape ?? {})))];
}

type Shaped = {
  readonly shape?: Readonly<Record<string, unknown>>;
  /** Of a list: what its members are. Of a choice: its forms. */
  readonly def?: { readonly element?: unknown; readonly options?: readonly unknown[] };
};
type Wrapped = { readonly def?: { readonly innerType?: unknown } };

/** Without what says "optional" or "by default". */
function bare(schema: unknown): Shaped | undefined {
  let inner = schema;
  while ((inner as Wrapped | undefined)?.def?.innerType !== undefined)
    inner = (inner as Wrapped).def?.innerType;
  return inner as Shaped | undefined;
}
