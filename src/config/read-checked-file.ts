import { resolve } from "node:path";
import type { z } from "zod";
import { formatExpected } from "../schema/check.ts";
import { describeSchemaIssues } from "./describe-schema-issues.ts";
import { type Problem, sortProblems } from "./problem.ts";
import { describeReadError, readTextFile } from "./read-text.ts";
import { readSource } from "./source/source-file.ts";
import type { SourceFormat } from "./source/source-format.ts";

/** How a file of an application is read. */
export type CheckedFileOptions<Schema extends z.ZodType> = {
  /** The schema of the whole file. Its own messages take precedence over the usual ones. */
  readonly schema: Schema;
  /** The folder that a relative path refers to; the current one by default. */
  readonly cwd?: string | undefined;
  /** By default the format of the file's extension, or else the first of TOML, JSON and YAML that fits. */
  readonly format?: SourceFormat | undefined;
};

/** The content of a file, or everything that is wrong with it, sorted by position. */
export type CheckedFile<Value> =
  | {
      readonly ok: true;
      /** What the schema has made of the content. */
      readonly value: Value;
    }
  | {
      readonly ok: false;
      /** All errors, by line and column. */
      readonly problems: readonly Problem[];
    };

/**
 * Reads a TOML, YAML or JSON file and checks it against a zod schema, as agent files are checked: each problem has its
 * line, its field, and what to do. `${NAME}` is plain text, so a file cannot read the environment. Never throws: an
 * unreadable file is a problem too.
 */
export function readCheckedFile<Schema extends z.ZodType>(
  file: string,
  { schema, cwd = process.cwd(), format }: CheckedFileOptions<Schema>,
): CheckedFile<z.output<Schema>> {
  let text: string;
  try {
    text = readTextFile(resolve(cwd, file));
  } catch (error) {
    const expected = "a file that can be read";
    const message = `it cannot be read: ${describeReadError(error)}`;
    return { ok: false, problems: [{ kind: "io", severity: "error", file, message, expected }] };
  }
  const read = readSource(text, { name: file, format, env: {}, isSecret: () => false, substitutes: false });
  if (!read.ok) return read;
  const { source } = read;
  const parsed = schema.safeParse(source.value, { error: formatExpected });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, problems: sortProblems(describeSchemaIssues(parsed.error.issues, source, schema)) };
}
