import { z } from "zod";
import type { Scorer } from "../../schema/scorer.ts";
import { SuiteScorer, type SuiteScorer as SuiteScorerType } from "../../schema/suite-scorer.ts";
import { describeRequiredKey } from "../agent-file/define-field.ts";

// Scorers in a suite file: those of schema/scorer.ts, with the keys of their tables in the style of agent files.

const MEANINGS = {
  exact: "The answer is equal to the expected text, or begins with it: 1 or 0.",
  includes: "The answer contains the expected text: 1 or 0.",
  regex: "The answer matches a regular expression: 1 or 0.",
  numeric: "A number of the answer is near the expected one: 1 or 0.",
  json: "The answer is JSON with the expected fields: the fraction that matches.",
  "edit-distance": "How near the answer is to the expected text, from 0 to 1.",
  "tool-calls": "The fraction of the expected tool calls that were made.",
  files: "The fraction of the workspace's files that are as expected.",
  command: "A command in the workspace, in the sandbox: 1 if it succeeds, otherwise 0.",
  cost: "The cost of the cell in dollars. Lower is better.",
  turns: "The turns of the cell. Lower is better.",
  time: "The time of the cell in milliseconds. Lower is better.",
  custom: "A function that the worker has registered.",
  judge: "A model that grades the answer by a rubric: the fraction of the points.",
} as const satisfies Record<Scorer["type"], string>;

type Table = z.ZodObject<{ type: z.ZodLiteral<Scorer["type"]> }>;

function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const TABLES = SuiteScorer.options.map((option) => {
  const shape = Object.entries<z.ZodType>(option.shape).map(([key, schema]) => [toSnakeCase(key), schema]);
  const { type } = option.shape;
  return z.strictObject({
    ...Object.fromEntries(shape),
    type: describeRequiredKey(type, MEANINGS[type.value]),
  }) as unknown as Table;
});

/** The table of a scorer in a suite file. */
export const ScorerTable = z.discriminatedUnion("type", TABLES as [Table, ...Table[]]);

/** Lists the keys of a type's table; those of all types if the type is unknown. */
export function listScorerKeys(type: unknown): readonly string[] {
  const own = TABLES.filter((table) => table.shape.type.value === type);
  return [...new Set((own.length === 0 ? TABLES : own).flatMap((table) => Object.keys(table.shape)))];
}

/** Returns the key of a table for a field of a scorer: `ignore_case` for `ignoreCase`. */
export function toScorerKey(field: PropertyKey): string {
  return toSnakeCase(String(field));
}

/** Converts a checked table. Only the scorer's own keys change: a path, a tool's argument or a setting stays as it is. */
export function toSuiteScorer(table: Readonly<Record<string, unknown>>): SuiteScorerType {
  const entries = Object.entries(table).map(([key, value]) => [
    key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return SuiteScorer.parse(Object.fromEntries(entries));
}
