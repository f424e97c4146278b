import { formatPath, type Path, setOwnKey } from "../source/source-node.ts";
import type { Field } from "./define-field.ts";
import { getAt } from "./table-paths.ts";

/** The origin of a value of a definition. */
export type Origin =
  | {
      readonly type: "file";
      readonly path: Path;
      /** The named entity that supplied the value: `agent_profile coder`. */
      readonly suppliedBy?: string;
      /** The file that contains the value: `prompts/coder.md`. */
      readonly read?: string;
    }
  /** The format's default for an absent key. */
  | { readonly type: "default"; readonly note?: string };

/** A table that may contain values of an agent. Earlier layers take precedence. */
export type Layer = {
  /** Its path in the file. */
  readonly path: Path;
  readonly value: unknown;
  readonly suppliedBy?: string;
  /** The prefix that is removed from a field's path: an instance of a section contains the section's keys. */
  readonly within?: string;
};

/** A partial definition with the origin of each value. */
export class Draft {
  readonly value: Record<string, unknown> = {};
  readonly origins = new Map<string, Origin>();

  set(to: Path, value: unknown, origin: Origin): void {
    let holder = this.value;
    for (const step of to.slice(0, -1)) {
      const existing = holder[step];
      if (typeof existing === "object" && existing !== null) holder = existing as Record<string, unknown>;
      else {
        const created = {};
        setOwnKey(holder, String(step), created);
        holder = created;
      }
    }
    setOwnKey(holder, String(to.at(-1)), value);
    this.origins.set(formatPath(to), origin);
  }

  get(path: Path): unknown {
    return getAt(this.value, path);
  }

  remove(path: Path): void {
    const holder = this.get(path.slice(0, -1)) as Record<string, unknown> | undefined;
    if (holder !== undefined) delete holder[String(path.at(-1))];
    for (const key of [...this.origins.keys()]) {
      if (key === formatPath(path) || key.startsWith(`${formatPath(path)}.`)) this.origins.delete(key);
    }
  }

  /** Adds another draft below a path. */
  addDraft(to: Path, { value, origins }: Draft): void {
    this.set(to, value, { type: "default" });
    this.origins.delete(formatPath(to));
    for (const [path, origin] of origins) this.origins.set(`${formatPath(to)}.${path}`, origin);
  }

  /** Sets each field to the value of the first layer that has one. */
  applyFields(fields: readonly Field[], layers: readonly Layer[], below: Path = []): void {
    for (const field of fields) {
      for (const layer of layers) {
        const path = findPlaceInLayer(layer, field);
        if (path === undefined) continue;
        const value = field.read(getAt(layer.value, path));
        if (value === undefined) break;
        const origin = { type: "file", path: [...layer.path, ...path] } as const;
        this.set(
          [...below, ...field.target],
          value,
          layer.suppliedBy === undefined ? origin : { ...origin, suppliedBy: layer.suppliedBy },
        );
        break;
      }
    }
  }
}

function findPlaceInLayer({ value, within }: Layer, { paths }: Field): readonly string[] | undefined {
  const own = within === undefined ? paths : paths.flatMap((path) => getPathsWithin(path, within));
  return own.find((path) => getAt(value, path) !== undefined);
}

function getPathsWithin(path: readonly string[], within: string): readonly (readonly string[])[] {
  return path[0] === within ? [path.slice(1)] : [];
}

/** Finds the origin of a value, or that of the nearest value around it. */
export function findOrigin(origins: ReadonlyMap<string, Origin>, path: Path): Origin | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = origins.get(formatPath(path.slice(0, length)));
    if (origin === undefined) continue;
    const rest = path.slice(length);
    return origin.type === "file" && rest.length > 0
      ? { ...origin, path: [...origin.path, ...rest] }
      : origin;
  }
  return undefined;
}

/** Finds the origin of a value, else the first file origin inside it or inside a value around it. */
export function findOriginAround(origins: ReadonlyMap<string, Origin>, path: Path): Origin | undefined {
  const own = findOrigin(origins, path);
  if (own !== undefined) return own;
  for (let length = path.length; length > 0; length -= 1) {
    const prefix = formatPath(path.slice(0, length));
    const inner = [...origins].find(([to, { type }]) => type === "file" && to.startsWith(`${prefix}.`));
    if (inner !== undefined) return inner[1];
  }
  return undefined;
}
