import { setImmediate as nextTurn } from "node:timers/promises";
// Reads JSON of unknown origin: each reader returns `undefined` for a missing value or one of the wrong type,
// so that new fields of a vendor are ignored and cause no failure.

import { isTooDeep } from "../platform/text/json-depth.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns `undefined` if the text is not JSON (which JSON itself cannot express), or is nested deeper than any data. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns `undefined` for the empty string too. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns a count of tokens or an index: a whole number, not negative. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Returns an object's own value under a name of unknown origin; never an inherited one, such as `constructor`. */
export function getOwn<Value>(
  table: Readonly<Record<string, Value>>,
  name: string | undefined,
): Value | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * Parses the arguments of a call: an empty text means no arguments, and text that is not JSON stays
 * text, so that validation can show it to the model.
 */
export function parseArguments(text: string): unknown {
  if (text.trim() === "") return {};
  const value = parseJson(text);
  return value === undefined ? text : value;
}

/**
 * Serialises a request. Half of a surrogate pair (a text that was cut within an emoji) is legal in a JavaScript string but
 * not in the JSON that vendors accept: it becomes the replacement character.
 */
export async function stringifyRequest(value: object): Promise<string> {
  const fields: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const written = Array.isArray(field) ? await stringifyList(field) : stringifyWellFormed(field);
    fields.push(`${stringifyWellFormed(name)}:${written}`);
  }
  return `{${fields.join(",")}}`;
}

/** How long the serialisation of a long conversation may run before it yields to other work, heartbeats first. */
const SLICE_MS = 50;

async function stringifyList(list: readonly unknown[]): Promise<string> {
  const parts: string[] = [];
  let sliceEndMs = performance.now() + SLICE_MS;
  for (const part of list) {
    parts.push(part === undefined ? "null" : stringifyWellFormed(part));
    if (performance.now() < sliceEndMs) continue;
    await nextTurn();
    sliceEndMs = performance.now() + SLICE_MS;
  }
  return `[${parts.join(",")}]`;
}

function stringifyWellFormed(value: unknown): string {
  const json = JSON.stringify(value);
  // `JSON.stringify` escapes only lone halves in this form; a false positive only takes the slow path.
  if (!/\\ud[89a-f]/.test(json)) return json;
  // Visits each escape, so that an escaped backslash is not read as the beginning of another.
  return json.replace(/\\(?:u(d[89a-f])[0-9a-f]{2}|.)/g, (escaped, half?: string) =>
    half === undefined ? escaped : "\ufffd",
  );
}
