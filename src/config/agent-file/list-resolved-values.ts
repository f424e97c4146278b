import { isObject } from "../../platform/text/json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { SourceFile } from "../source/source-file.ts";
import { formatPath, type Path } from "../source/source-node.ts";
import { findOrigin, type Origin } from "./draft.ts";
import { toFilePath } from "./table-paths.ts";

/** One value of a definition with its origin. */
export type ResolvedValue = {
  /** The path in the definition: `limits.maxTurns`. */
  readonly path: string;
  /** The value; a secret is shown as its reference. */
  readonly value: unknown;
  /** `agent.toml:12:13`, or `default`. */
  readonly from: string;
  /** The field of the file. */
  readonly field?: string;
  /** The named entity that supplied the value. */
  readonly suppliedBy?: string;
  /** The file that contains the value. */
  readonly read?: string;
  /** The environment variables that the value contains. */
  readonly environment?: readonly string[];
  /** What a reader should know about the value. */
  readonly note?: string;
};

/** Lists all scalars of a definition, and its empty tables and lists. */
export function listResolvedValues(
  definition: AgentDefinition,
  origins: ReadonlyMap<string, Origin>,
  source: SourceFile,
): readonly ResolvedValue[] {
  return listLeaves(definition, []).map(({ path, value }) => {
    const origin = findOrigin(origins, path);
    const displayed = { path: formatPath(path), value };
    if (origin === undefined) return { ...displayed, from: "default" };
    if (origin.type === "default") {
      return { ...displayed, from: "default", ...omitUndefined({ note: origin.note }) };
    }
    const location = toFilePath(source.value, origin.path);
    const { file, line, column } = source.locate(location);
    const environment = findVariables(source, location);
    return {
      ...displayed,
      from: `${file}:${line}:${column}`,
      field: formatPath(location),
      ...omitUndefined({ suppliedBy: origin.suppliedBy, read: origin.read, environment }),
    };
  });
}

function findVariables({ variables }: SourceFile, path: Path): readonly string[] | undefined {
  return variables.get(formatPath(path));
}

function listLeaves(value: unknown, path: Path): readonly { readonly path: Path; readonly value: unknown }[] {
  if (value === undefined) return [];
  const inner = Array.isArray(value)
    ? value.map((member, index) => [index, member] as const)
    : isObject(value)
      ? Object.entries(value)
      : [];
  if (inner.length === 0) return [{ path, value }];
  return inner.flatMap(([step, member]) => listLeaves(member, [...path, step]));
}
