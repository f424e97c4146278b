import { z } from "zod";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Path } from "../source/source-node.ts";
import { TABLE_DESCRIPTIONS } from "./table-descriptions.ts";

/** One field of an agent file, and its counterpart in the definition. */
export type Field = {
  /** Paths at which the field may stand in its table; the first one is used for writing. */
  readonly paths: readonly (readonly string[])[];
  readonly schema: z.ZodType;
  readonly target: Path;
  /** Convert the file's value to the definition's, and back; `undefined` is ignored. */
  readonly read: (value: unknown) => unknown;
  readonly write: (value: unknown) => unknown;
};

export type FieldOptions = {
  /** Alternative paths, for files written for other tools. */
  readonly aliases?: readonly string[];
  readonly read?: (value: unknown) => unknown;
  readonly write?: (value: unknown) => unknown;
};

const identity = (value: unknown): unknown => value;

/** @param path - A dotted path: `execution.retry.max_retries`. @param target - A dotted path in the definition. */
export function defineField(
  path: string,
  target: string,
  schema: z.ZodType,
  options: FieldOptions = {},
): Field {
  return {
    paths: [path, ...(options.aliases ?? [])].map((dotted) => dotted.split(".")),
    schema,
    target: target.split("."),
    read: options.read ?? identity,
    write: options.write ?? identity,
  };
}

/**
 * Adds a description and a default value to the schema of an optional key.
 *
 * @param description - A sentence; that of the definition's field where it fits the file, too.
 */
export function describeKey(
  schema: z.ZodType,
  description: string | undefined,
  defaultValue?: unknown,
): z.ZodType {
  return schema.optional().meta(omitUndefined({ description, default: defaultValue }));
}

/** Adds a description to the schema of a required key. */
export function describeRequiredKey(schema: z.ZodType, description: string): z.ZodType {
  return schema.meta({ ...schema.meta(), description });
}

/** Adds to a schema the text that error messages give as the expected value. */
export function withExpected<Schema extends z.ZodType>(schema: Schema, expected: string): Schema {
  return schema.meta({ ...schema.meta(), expected });
}

/** The value that disables a setting, in every format. TOML has no null. */
const NONE = "none";

export function allowNone(schema: z.ZodType): z.ZodType {
  return z.union([schema, z.literal(NONE), z.null()]);
}

/** Conversions of fields with the schema of `allowNone`. */
export const NONE_AS_NULL = {
  read: (value: unknown) => (value === NONE ? null : value),
  write: (value: unknown) => (value === null ? NONE : value),
} as const;

export const SECONDS_AS_MS = {
  read: (value: unknown) => (typeof value === "number" ? Math.round(value * 1000) : NONE_AS_NULL.read(value)),
  write: (value: unknown) => (typeof value === "number" ? value / 1000 : NONE_AS_NULL.write(value)),
} as const;

export const integerFrom = (min: number, max?: number) => {
  const schema = z.number().int().min(min);
  return max === undefined ? schema : schema.max(max);
};

/** Returns the schema of a key that is either a text or a table. */
function defineTextOrTable(text: z.ZodType, table: z.ZodType): z.ZodType {
  const { description, expected } = text.meta() as { description?: string; expected?: string };
  const schema = z.union([(text as z.ZodOptional<z.ZodType>).unwrap(), table]);
  return schema.optional().meta({
    ...omitUndefined({ description, expected }),
  });
}

/**
 * Builds the shape of the table that holds these fields, including nested tables.
 *
 * @param above - The path of the table, for the descriptions of nested ones.
 */
export function buildShape(fields: readonly Field[], above = ""): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {};
  const inner = new Map<string, Field[]>();
  for (const { paths, ...rest } of fields) {
    for (const [index, [key, ...below]] of paths.entries()) {
      if (below.length > 0) inner.set(key!, [...(inner.get(key!) ?? []), { ...rest, paths: [below] }]);
      else if (index === 0) shape[key!] = rest.schema;
      else
        shape[key!] = rest.schema.meta({
          ...rest.schema.meta(),
          description: `The same as ${paths[0]!.join(".")}.`,
        });
    }
  }
  for (const [key, below] of inner) {
    const own = shape[key];
    const path = `${above}${key}`;
    const table = z.strictObject(buildShape(below, `${path}.`));
    const description = TABLE_DESCRIPTIONS[path];
    shape[key] =
      own === undefined
        ? table.optional().meta({ ...omitUndefined({ description }) })
        : defineTextOrTable(own, table);
  }
  return shape;
}
