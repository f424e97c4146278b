import { asObject, type JsonObject } from "../../platform/text/json.ts";
import { asNonEmptyText } from "../json.ts";

// Assembles arguments that arrive value by value, each with a JSONPath of its position (Vertex only).

/** The most depth or width of a path, beyond any tool's arguments: a path must not create large structures. */
const MAX_DEPTH = 32;
const MAX_INDEX = 4096;

type Step = string | number;

/** Parses `$.a.b[0]['c d']` to steps. Returns `undefined` for a path that does not name a single position. */
export function parsePath(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  const form = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;
  form.lastIndex = 1;
  if (!path.startsWith("$")) return undefined;
  while (form.lastIndex < path.length) {
    const found = form.exec(path);
    if (found === null || steps.length === MAX_DEPTH) return undefined;
    const [, name, index, single, double] = found;
    if (index !== undefined && Number(index) > MAX_INDEX) return undefined;
    const quoted = (single ?? double)?.replace(/\\(.)/g, "$1");
    const step = index === undefined ? (name ?? quoted ?? "") : Number(index);
    if (step === "__proto__") return undefined;
    steps.push(step);
  }
  return steps.length === 0 ? undefined : steps;
}

/** Puts one value at its position. A text is appended to existing text, because it arrives in pieces. */
export function putPartialValue(root: Record<string, unknown>, partial: JsonObject): void {
  const steps = parsePath(asNonEmptyText(partial["jsonPath"]) ?? "");
  const value = getValue(partial);
  if (steps === undefined || value === undefined) return;
  let target: Record<Step, unknown> = root;
  for (const [at, step] of steps.slice(0, -1).entries()) {
    const next = Object.hasOwn(target, step) ? target[step] : undefined;
    const found = Array.isArray(next) ? next : asObject(next);
    const inner = found ?? (typeof steps[at + 1] === "number" ? [] : {});
    target[step] = inner;
    target = inner as Record<Step, unknown>;
  }
  const last = steps.at(-1) as Step;
  const before = Object.hasOwn(target, last) ? target[last] : undefined;
  target[last] = typeof before === "string" && typeof value === "string" ? before + value : value;
}

function getValue(partial: JsonObject): string | number | boolean | null | undefined {
  const { stringValue, numberValue, boolValue, nullValue } = partial;
  if (typeof stringValue === "string") return stringValue;
  if (typeof numberValue === "number") return numberValue;
  if (typeof boolValue === "boolean") return boolValue;
  return nullValue === undefined ? undefined : null;
}
