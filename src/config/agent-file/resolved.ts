import type { AgentDefinition } from "../../schema/definition.ts";
import { type Path, pathText } from "../source/node.ts";
import type { SourceFile } from "../source/source-file.ts";
import { type Origin, originOf } from "./draft.ts";
import { inFile, isTable } from "./table.ts";

/** One value of a definition, and where it comes from. */
export type ResolvedValue = {
  /** In the definition: `limits.maxTurns`. */
  readonly path: string;
  readonly value: unknown;
  /** `agent.toml:12:13`, or `default`. */
  readonly from: string;
  /** The field of the file. */
  readonly field?: string;
  /** Named entities that it came through. */
  readonly via?: string;
  /** The file that it was read from. */
  readonly read?: string;
  /** Variables of the environment that it was made of. */
  readonly environment?: readonly string[];
  readonly note?: string;
};

/** Of every value that is no table and no list; empty ones stand for themselves. */
export function resolvedValues(
  definition: AgentDefinition,
  origins: ReadonlyMap<string, Origin>,
  source: SourceFile,
): readonly ResolvedValue[] {
  return leaves(definition, []).map(({ path, value }) => {
    const origin = originOf(origins, path);
    const shown = { path: pathText(path), value };
    if (origin === undefined) return { ...shown, from: "default" };
    if (origin.type === "default") {
      return { ...shown, from: "default", ...(origin.note === undefined ? {} : { note: origin.note }) };
    }
    const place = inFile(source.value, origin.path);
    const { file, line, column } = source.place(place);
    const environment = variablesOf(source, place);
    return {
      ...shown,
      from: `${file}:${line}:${column}`,
      field: pathText(place),
      ...(origin.via === undefined ? {} : { via: origin.via }),
      ...(origin.read === undefined ? {} : { read: origin.read }),
      ...(environment === undefined ? {} : { environment }),
    };
  });
}

function variablesOf({ variables }: SourceFile, path: Path): readonly string[] | undefined {
  return variables.get(pathText(path));
}

function leaves(value: unknown, path: Path): readonly { readonly path: Path; readonly value: unknown }[] {
  if (value === undefined) return [];
  const inner = Array.isArray(value)
    ? value.map((member, index) => [index, member] as const)
    : isTable(value)
      ? Object.entries(value)
      : [];
  if (inner.length === 0) return [{ path, value }];
  return inner.flatMap(([step, member]) => leaves(member, [...path, step]));
}
