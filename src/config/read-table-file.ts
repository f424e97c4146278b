import type { z } from "zod";
import { isObject } from "../platform/text/json.ts";
import { check } from "../schema/check.ts";
import { formatProblem } from "./problem.ts";
import { readTextFile } from "./read-text.ts";
import { readSource } from "./source/source-file.ts";
import type { Path } from "./source/source-node.ts";

export type TableFile<Schema extends z.ZodType> = {
  /** The file's content as named in errors: "The credentials". */
  readonly description: string;
  /** The variable that specifies the file. */
  readonly variable: string;
  readonly schema: Schema;
  readonly isSecret?: (path: Path) => boolean;
};

/**
 * Reads and checks a TOML, YAML or JSON file of tables. Keys of its tables may contain underscores. An error lists all
 * problems.
 */
export function readTableFile<Schema extends z.ZodType>(
  path: string,
  { description, variable, schema, isSecret = () => false }: TableFile<Schema>,
  env: NodeJS.ProcessEnv = process.env,
): z.infer<Schema> {
  const fail = (lines: readonly string[]): never => {
    throw new Error(`${description} in ${path} (${variable}) cannot be used:\n${lines.join("\n")}`);
  };
  const read = readSource(readText(path, fail), { name: path, env, isSecret });
  const problems = read.ok ? read.source.problems : read.problems;
  if (!read.ok || problems.length > 0) return fail(problems.map(formatProblem));
  const tables = Object.entries(read.source.value).map(([name, table]) => [name, toCamelCaseKeys(table)]);
  const checked = check(schema, Object.fromEntries(tables), "file");
  return checked.ok ? checked.value : fail(checked.problems);
}

function readText(path: string, fail: (lines: readonly string[]) => never): string {
  try {
    return readTextFile(path);
  } catch (error) {
    return fail([`It cannot be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`]);
  }
}

function toCamelCaseKeys(table: unknown): unknown {
  if (!isObject(table)) return table;
  return Object.fromEntries(
    Object.entries(table).map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
