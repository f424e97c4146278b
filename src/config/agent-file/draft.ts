import { type Path, pathText, put } from "../source/node.ts";
import type { Field } from "./field.ts";
import { at } from "./table.ts";

/** Where a value of a definition comes from. */
export type Origin =
  | {
      readonly type: "file";
      readonly path: Path;
      /** Named entities that it came through: `agent_profile coder`. */
      readonly via?: string;
      /** A file that the value was read from: `prompts/coder.md`. */
      readonly read?: string;
    }
  /** The format's own: what an absent key means. */
  | { readonly type: "default"; readonly note?: string };

/** A table that may say things of an agent. Earlier layers win. */
export type Layer = {
  /** Where it stands in the file. */
  readonly path: Path;
  readonly value: unknown;
  readonly via?: string;
  /** Left off at the beginning of a field's place: an instance of a section holds the section's keys. */
  readonly within?: string;
};

/** A definition that is being put together, and where each value of it comes from. */
export class Draft {
  readonly value: Record<string, unknown> = {};
  readonly origins = new Map<string, Origin>();

  set(to: Path, value: unknown, origin: Origin): void {
    let holder = this.value;
    for (const step of to.slice(0, -1)) {
      const there = holder[step];
      if (typeof there === "object" && there !== null) holder = there as Record<string, unknown>;
      else {
        const made = {};
        put(holder, String(step), made);
        holder = made;
      }
    }
    put(holder, String(to.at(-1)), value);
    this.origins.set(pathText(to), origin);
  }

  get(path: Path): unknown {
    return at(this.value, path);
  }

  remove(path: Path): void {
    const holder = this.get(path.slice(0, -1)) as Record<string, unknown> | undefined;
    if (holder !== undefined) delete holder[String(path.at(-1))];
    for (const key of [...this.origins.keys()]) {
      if (key === pathText(path) || key.startsWith(`${pathText(path)}.`)) this.origins.delete(key);
    }
  }

  /** Puts another draft in, below a path. */
  embed(to: Path, { value, origins }: Draft): void {
    this.set(to, value, { type: "default" });
    this.origins.delete(pathText(to));
    for (const [path, origin] of origins) this.origins.set(`${pathText(to)}.${path}`, origin);
  }

  /** Of each field, what the first layer says that says anything. */
  take(fields: readonly Field[], layers: readonly Layer[], below: Path = []): void {
    for (const field of fields) {
      for (const layer of layers) {
        const place = placeIn(layer, field);
        if (place === undefined) continue;
        const value = field.read(at(layer.value, place));
        if (value === undefined) break;
        const origin = { type: "file", path: [...layer.path, ...place] } as const;
        this.set(
          [...below, ...field.to],
          value,
          layer.via === undefined ? origin : { ...origin, via: layer.via },
        );
        break;
      }
    }
  }
}

function placeIn({ value, within }: Layer, { places }: Field): readonly string[] | undefined {
  const own = within === undefined ? places : places.flatMap((place) => inside(place, within));
  return own.find((place) => at(value, place) !== undefined);
}

function inside(place: readonly string[], within: string): readonly (readonly string[])[] {
  return place[0] === within ? [place.slice(1)] : [];
}

/** What is known of the origin of a value: its own, or that of what holds it. */
export function originOf(origins: ReadonlyMap<string, Origin>, path: Path): Origin | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = origins.get(pathText(path.slice(0, length)));
    if (origin === undefined) continue;
    const rest = path.slice(length);
    return origin.type === "file" && rest.length > 0
      ? { ...origin, path: [...origin.path, ...rest] }
      : origin;
  }
  return undefined;
}

/** Of a value that is made of several: the first that is known to belong to it, or to what holds it. */
export function originAround(origins: ReadonlyMap<string, Origin>, path: Path): Origin | undefined {
  const own = originOf(origins, path);
  if (own !== undefined) return own;
  for (let length = path.length; length > 0; length -= 1) {
    const prefix = pathText(path.slice(0, length));
    const inner = [...origins].find(([to, { type }]) => type === "file" && to.startsWith(`${prefix}.`));
    if (inner !== undefined) return inner[1];
  }
  return undefined;
}
