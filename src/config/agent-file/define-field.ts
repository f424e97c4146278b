import { z } from "zod";
import type { Path } from "../source/source-node.ts";

/** One thing that a file can say of an agent, and what it is in a definition. */
export type Field = {
  /** Where it may stand in its table; the first is the place that is written. */
  readonly places: readonly (readonly string[])[];
  readonly schema: z.ZodType;
  readonly to: Path;
  /** From the file's value to the definition's, and back; `undefined` is not taken over. */
  readonly read: (value: unknown) => unknown;
  readonly write: (value: unknown) => unknown;
};

export type FieldOptions = {
  /** Other places, for files written for other tools. */
  readonly also?: readonly string[];
  readonly read?: (value: unknown) => unknown;
  readonly write?: (value: unknown) => unknown;
};

const identity = (value: unknown): unknown => value;

/** @param place - With dots: `execution.retry.max_retries`. @param to - With dots, in the definition. */
export function defineField(
  path: string,
  target: string,
  schema: z.ZodType,
  options: FieldOptions = {},
): Field {
  return {
    places: [path, ...(options.also ?? [])].map((dotted) => dotted.split(".")),
    schema,
    to: target.split("."),
    read: options.read ?? identity,
    write: options.write ?? identity,
  };
}

/** What a key means, and what it is when nobody says it. */
export function describeKey(schema: z.ZodType, description: string, defaultValue?: unknown): z.ZodType {
  return schema
    .optional()
    .meta({ description, ...(defaultValue === undefined ? {} : { default: defaultValue }) });
}

/** What a key means that cannot be left out. */
export function describeRequiredKey(schema: z.ZodType, description: string): z.ZodType {
  return schema.meta({ ...schema.meta(), description });
}

/** Says of a schema what problems tell people to write. */
export function withExpected<Schema extends z.ZodType>(schema: Schema, expected: string): Schema {
  return schema.meta({ ...schema.meta(), expected });
}

/** TOML knows no null: the word switches a thing off in every format. */
const NONE = "none";

export function allowNone(schema: z.ZodType): z.ZodType {
  return z.union([schema, z.literal(NONE), z.null()]);
}

/** For fields of `orNone`. */
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

/** What a key may be in place of its table. */
function textOrTable(text: z.ZodType, table: z.ZodType): z.ZodType {
  const { description, expected } = text.meta() as { description?: string; expected?: string };
  const schema = z.union([(text as z.ZodOptional<z.ZodType>).unwrap(), table]);
  return schema.optional().meta({
    ...(description === undefined ? {} : { description }),
    ...(expected === undefined ? {} : { expected }),
  });
}

/** The table that holds these fields, with tables within it. */
export function buildShape(fields: readonly Field[]): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {};
  const inner = new Map<string, Field[]>();
  for (const { places, ...rest } of fields) {
    for (const [index, [key, ...below]] of places.entries()) {
      if (below.length > 0) inner.set(key!, [...(inner.get(key!) ?? []), { ...rest, places: [below] }]);
      else if (index === 0) shape[key!] = rest.schema;
      else
        shape[key!] = rest.schema.meta({
          ...rest.schema.meta(),
          description: `The same as ${places[0]!.join(".")}.`,
        });
    }
  }
  for (const [key, below] of inner) {
    const own = shape[key];
    const table = z.strictObject(buildShape(below));
    shape[key] = own === undefined ? table.optional() : textOrTable(own, table);
  }
  return shape;
}
