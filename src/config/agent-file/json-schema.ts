import { z } from "zod";
import type { Path } from "../source/source-node.ts";
import { AgentFile } from "./agent-file-schema.ts";

/** The part of JSON Schema that this module reads. */
export type JsonSchema = {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  /** Tables that one of their keys tells apart. */
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly format?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  /** A private keyword: the text for users that replaces the generated description. */
  readonly expected?: string;
};

let cachedSchema: JsonSchema | undefined;

/** Returns the schema of the format, including the keyword `expected`. */
export function getFileSchema(): JsonSchema {
  cachedSchema ??= z.toJSONSchema(AgentFile, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return cachedSchema;
}

/** Formats the published schema as the file in the package, which only programs read. */
export function formatPublishedSchema(): string {
  return formatSchemaFile(AgentFile, "An agent file of Holdfast");
}

/** Formats the schema of a file's format for editors, which any JSON Schema validator accepts. */
export function formatSchemaFile(format: z.ZodType, title: string): string {
  const schema = z.toJSONSchema(format, { io: "input", unrepresentable: "any", reused: "ref" });
  return `${JSON.stringify({ title, ...(removePrivateKeywords(schema) as object) })}\n`;
}

function removePrivateKeywords(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((member) => removePrivateKeywords(member));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => isNames || key !== "expected")
      .map(([key, inner]) => [key, removePrivateKeywords(inner, key === "properties")]),
  );
}

/** Finds the schema at a path. Alternatives are searched in order. */
export function findSchemaAt(path: Path): JsonSchema | undefined {
  return findSchemaBelow(getFileSchema(), path);
}

function findSchemaBelow(schema: JsonSchema, path: Path): JsonSchema | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return schema;
  if (schema.anyOf !== undefined) {
    for (const choice of schema.anyOf) {
      const found = findSchemaBelow(choice, path);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const inner =
    typeof step === "number"
      ? schema.items
      : Object.hasOwn(schema.properties ?? {}, step)
        ? schema.properties?.[step]
        : typeof schema.additionalProperties === "object"
          ? schema.additionalProperties
          : undefined;
  return inner === undefined ? undefined : findSchemaBelow(inner, rest);
}

/** Lists the keys that a table may have. */
export function listKeys(schema: JsonSchema | undefined): readonly string[] {
  if (schema?.anyOf !== undefined) return schema.anyOf.flatMap(listKeys);
  return Object.keys(schema?.properties ?? {});
}

/** Formats a schema as text, such as: a whole number from 1, or "none". */
export function formatExpected(schema: JsonSchema): string {
  if (schema.expected !== undefined) return schema.expected;
  if (schema.anyOf !== undefined) {
    const choices = schema.anyOf.filter(({ type }) => type !== "null").flatMap(listChoices);
    return formatChoices([...new Set(choices)]);
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return formatChoices(schema.enum.map((value) => JSON.stringify(value)));
  switch (schema.type) {
    case "integer":
      return `a whole number${formatBounds(schema)}`;
    case "number":
      return `a number${formatBounds(schema)}`;
    case "boolean":
      return "true or false";
    case "string":
      if (schema.format === "uuid") return "a text that is a UUID";
      return (schema.minLength ?? 0) > 0 ? "a text that is not empty" : "a text";
    case "array":
      return schema.items === undefined ? "a list" : `a list; each member ${formatExpected(schema.items)}`;
    case "object":
      return `a table${formatKeys(Object.keys(schema.properties ?? {}))}`;
    default:
      return "any value";
  }
}

/** The maximum number of keys that a description of a table lists. */
const MAX_KEYS = 8;

function formatKeys(keys: readonly string[]): string {
  return keys.length === 0 || keys.length > MAX_KEYS ? "" : ` with the keys ${keys.join(", ")}`;
}

/** Lists the alternatives of a schema; each value of an enum is one. */
function listChoices(schema: JsonSchema): readonly string[] {
  if (schema.expected !== undefined || schema.enum === undefined) return [formatExpected(schema)];
  return schema.enum.map((value) => JSON.stringify(value));
}

function formatBounds({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: JsonSchema): string {
  const from =
    exclusiveMinimum !== undefined
      ? ` above ${exclusiveMinimum}`
      : isBound(minimum)
        ? ` from ${minimum}`
        : "";
  const to =
    exclusiveMaximum !== undefined ? ` below ${exclusiveMaximum}` : isBound(maximum) ? ` to ${maximum}` : "";
  return from + (from !== "" && to.startsWith(" below") ? ` and${to}` : to);
}

function isBound(bound: number | undefined): boolean {
  return bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
}

function formatChoices(choices: readonly string[]): string {
  if (choices.length < 2) return choices.join("");
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}
