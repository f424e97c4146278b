import type { z } from "zod";
import { findNearestName } from "../../../platform/text/nearest-name.ts";

type Def = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly options?: readonly z.ZodType[];
  readonly discriminator?: string;
};

/** Formats an issue as a text; for an unknown name, adds the most similar known name and all known names. */
export function formatIssue(schema: z.ZodType, issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "unrecognized_keys") {
    const known = listKeys(schema, issue.path, value);
    return issue.keys.map((key) => formatUnknownName("field", key, known)).join("; ");
  }
  if (issue.code === "invalid_union") {
    const { options } = issue as { options?: readonly unknown[] };
    const found = getValue(value, issue.path);
    if (options !== undefined && typeof found === "string") {
      return formatUnknownName("value", found, options.map(String));
    }
  }
  if (issue.code === "invalid_type" && getValue(value, issue.path) === undefined) {
    return `is missing; it must be of type ${issue.expected}`;
  }
  return issue.message;
}

function getValue(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as never)?.[key], value);
}

function formatUnknownName(what: string, name: string, known: readonly string[]): string {
  const near = findNearestName(name, known);
  const meant = near === undefined ? "" : ` Did you mean "${near}"?`;
  const all = known.length === 0 ? "" : ` Known: ${known.join(", ")}.`;
  return `unknown ${what} "${name}".${meant}${all}`;
}

/** Returns the fields that an object may have at this position. */
function listKeys(schema: z.ZodType, path: readonly PropertyKey[], value: unknown): readonly string[] {
  const def = schema.def as unknown as Def;
  if (def.innerType !== undefined) return listKeys(def.innerType, path, value);
  if (def.type === "union") {
    return listOptions(def, value).flatMap((option) => listKeys(option, path, value));
  }
  const [key, ...remaining] = path;
  if (key === undefined) return Object.keys(def.shape ?? {});
  const inner = def.shape?.[String(key)] ?? def.element ?? def.valueType;
  return inner === undefined ? [] : listKeys(inner, remaining, (value as never)?.[key]);
}

function listOptions({ options = [], discriminator }: Def, value: unknown): readonly z.ZodType[] {
  if (discriminator === undefined) return options;
  const discriminatorValue = (value as Record<string, unknown> | undefined)?.[discriminator];
  return options.filter((option) => {
    const { shape } = option.def as unknown as Def;
    return shape?.[discriminator]?.safeParse(discriminatorValue).success === true;
  });
}
