import { asList, asText } from "../../platform/text/json.ts";
import type { Path, Step } from "../source/source-node.ts";

export function getAt(value: unknown, path: Path): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string, unknown>)[step];
  }
  return here;
}

export function getListAt(value: unknown, path: Path): readonly unknown[] {
  return asList(getAt(value, path));
}

export function getTextAt(value: unknown, path: Path): string | undefined {
  return asText(getAt(value, path));
}

/** Copies a value without these paths. A removed list member leaves a hole, so that the indexes of others stay valid. */
export function omitPaths(value: unknown, paths: readonly Path[]): unknown {
  const copy = structuredClone(value);
  for (const path of paths) {
    const holder = getAt(copy, path.slice(0, -1));
    const step = path.at(-1);
    if (step === undefined || typeof holder !== "object" || holder === null) continue;
    if (Array.isArray(holder)) holder[step as number] = undefined;
    else delete (holder as Record<string, unknown>)[step];
  }
  return copy;
}

/** Converts a definition's path to the file's key names, as far as the path exists in the file. */
export function toFilePath(value: unknown, path: Path): Path {
  const found: Step[] = [];
  for (const step of path) {
    // A single value that stands for a list of one.
    if (step === 0 && !Array.isArray(getAt(value, found))) continue;
    const snake = String(step).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const next = [step, snake].find((name) => getAt(value, [...found, name]) !== undefined);
    if (next === undefined) break;
    found.push(next);
  }
  return found;
}
