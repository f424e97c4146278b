import { isObject } from "../../platform/text/json.ts";

// Describes briefly how one value has changed to another. Texts are counted, not quoted.

/** Longer texts are treated as text for a model, and are not quoted. */
const VALUE_CHARS = 48;

/** Compares two values as JSON; a field that is `undefined` is absent. */
export function isAlike(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((member, index) => isAlike(member, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  return listKeys(one, other).every((key) => isAlike(one[key], other[key]));
}

export function describeChange(from: unknown, to: unknown): string {
  if (isNames(from ?? []) && isNames(to ?? []) && (Array.isArray(from) || Array.isArray(to))) {
    return describeListChange((from ?? []) as readonly string[], (to ?? []) as readonly string[]);
  }
  if (isObject(from) && isObject(to)) return describeObjectChange(from, to);
  if (isShort(from) && isShort(to)) return `${formatValue(from)} → ${formatValue(to)}`;
  if (typeof from === "string" && typeof to === "string") return describeTextChange(from, to);
  if (from === undefined || from === null) return "added";
  return to === undefined || to === null ? "removed" : "changed";
}

/** Describes the change of a list of named items. */
export function describeNameChange(
  from: readonly { readonly name: string }[],
  to: readonly { readonly name: string }[],
): string {
  const names = describeListChange(
    from.map(({ name }) => name),
    to.map(({ name }) => name),
  );
  const others = to.filter((one) => {
    const before = from.find(({ name }) => name === one.name);
    return before !== undefined && !isAlike(before, one);
  });
  const changed = others.length === 0 ? [] : [`changed ${others.map(({ name }) => name).join(", ")}`];
  return [...(names === REORDERED && changed.length > 0 ? [] : [names]), ...changed].join("; ");
}

const REORDERED = "in another order";

function describeListChange(from: readonly string[], to: readonly string[]): string {
  const added = to.filter((name) => !from.includes(name));
  const gone = from.filter((name) => !to.includes(name));
  const parts = [
    ...(added.length === 0 ? [] : [`added ${added.join(", ")}`]),
    ...(gone.length === 0 ? [] : [`removed ${gone.join(", ")}`]),
  ];
  return parts.length === 0 ? REORDERED : parts.join("; ");
}

function describeObjectChange(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): string {
  return listKeys(from, to)
    .filter((key) => !isAlike(from[key], to[key]))
    .map((key) =>
      isShort(from[key]) && isShort(to[key])
        ? `${key} ${formatValue(from[key])} → ${formatValue(to[key])}`
        : `${key} changed`,
    )
    .join(", ");
}

function describeTextChange(from: string, to: string): string {
  return `${from.length} → ${to.length} characters`;
}

function formatValue(value: unknown): string {
  if (value === undefined) return "not set";
  if (value === null) return "none";
  return value === "" ? '""' : String(value);
}

function isShort(value: unknown): boolean {
  if (typeof value === "string") return value.length <= VALUE_CHARS && !value.includes("\n");
  return value === undefined || value === null || typeof value === "number" || typeof value === "boolean";
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((member) => typeof member === "string");
}

function listKeys(one: object, other: object): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}
