import type { Path } from "../source/source-node.ts";
import { getFileSchema, type JsonSchema } from "./json-schema.ts";

// Where the keys of an agent file belong, for messages about a key in the wrong section.

/** One key of one table. */
type KeyPlace = {
  readonly key: string;
  /** The table's path in the format, with `[]` after the key of a list. */
  readonly table: readonly string[];
  readonly schema: JsonSchema;
};

/** A key that more sections have is too common for a guess: `name`, `type`, `timeout_ms`. */
const MAX_SECTIONS = 3;
/** The weight of one table that two paths share, in levels of nesting. */
const COMMON_TABLE = 1.5;

let cachedPlaces: readonly KeyPlace[] | undefined;

function listPlaces(): readonly KeyPlace[] {
  cachedPlaces ??= [...walk(getFileSchema(), [])];
  return cachedPlaces;
}

function* walk(schema: JsonSchema, table: readonly string[]): Generator<KeyPlace> {
  for (const choice of schema.anyOf ?? []) yield* walk(choice, table);
  if (schema.items !== undefined && table.length > 0)
    yield* walk(schema.items, [...table.slice(0, -1), `${table.at(-1)}[]`]);
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    yield { key, table, schema: inner };
    yield* walk(inner, [...table, key]);
  }
}

/** Lists every key of the format. */
export function listAllKeys(): readonly string[] {
  return [...new Set(listPlaces().map(({ key }) => key))];
}

/**
 * Finds where a key may stand with this value: "in `[provider]`". Returns the places that are nearest to a path, or none if
 * too many sections have the key.
 */
export function findKeyPlaces(key: string, value: unknown, near: Path): readonly string[] {
  const here = formatTable(near);
  const places = listPlaces().filter((place) => place.key === key && fits(place.schema, value));
  const isCommon = new Set(places.map(({ table }) => getSection(table))).size > MAX_SECTIONS;
  const own = places.filter(({ table }) => here.length > 0 && getSection(table) === getSection(here));
  return formatNearest(isCommon ? own : places, here);
}

/** Returns the name of a table's section, which may stand at the top level or in an agent. */
function getSection(table: readonly string[]): string | undefined {
  if (table.includes("fallbacks[]")) return "provider";
  const isOfAgent = /^(sub_)?agents?$/.test(table[0] ?? "") && table[1] === "instances[]" && table.length > 2;
  return table[isOfAgent ? 2 : 0]?.replace("[]", "");
}

function formatNearest(places: readonly KeyPlace[], here: readonly string[]): readonly string[] {
  const distances = places.map(({ table }) => measureDistance(table, here));
  const least = Math.min(...distances);
  const nearest = places.filter((_, index) => distances[index] === least);
  return [...new Set(nearest.map(({ table, key, schema }) => formatPlace(table, key, schema)))];
}

/** A place is near if it is at a high level of the file, or in the same tables. A list counts as a level, and [mode] too. */
function measureDistance(table: readonly string[], here: readonly string[]): number {
  const levels = table.length + table.filter((name) => name.endsWith("[]") || name === "mode").length;
  const common = table.findIndex((name, index) => name !== here[index]);
  return levels - COMMON_TABLE * (common < 0 ? table.length : common);
}

function formatTable(path: Path): readonly string[] {
  const names: string[] = [];
  for (const step of path) {
    if (typeof step === "number") names.push(`${names.pop() ?? ""}[]`);
    else names.push(step);
  }
  return names;
}

function formatPlace(table: readonly string[], key: string, schema: JsonSchema): string {
  if (table.length === 0) return `at the top level of the file${isTable(schema) ? `, as \`[${key}]\`` : ""}`;
  const path = table.map((name) => name.replace("[]", "")).join(".");
  return table.at(-1)?.endsWith("[]") === true ? `in \`[[${path}]]\`` : `in \`[${path}]\``;
}

function isTable(schema: JsonSchema): boolean {
  return schema.type === "object" || schema.anyOf?.some(isTable) === true;
}

/** Checks whether a value is of a schema's kind: a table, a list or a single value. */
function fits(schema: JsonSchema, value: unknown): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some((choice) => fits(choice, value));
  if (schema.type === undefined) return schema.const === undefined || typeof value !== "object";
  if (Array.isArray(value)) return schema.type === "array";
  if (typeof value === "object" && value !== null) return schema.type === "object";
  return schema.type !== "array" && schema.type !== "object";
}
