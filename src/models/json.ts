import { setImmediate as nextTurn } from "node:timers/promises";
// Reading JSON of unknown origin: each reader gives `undefined` for what is not there or not of the asked kind,
// so that a vendor's novelty is ignored rather than fatal.

import { isTooDeep } from "../platform/text/json-depth.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** `undefined` when the text is not JSON (which JSON itself cannot express), or is nested deeper than any data. */
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

/** `undefined` for the empty string too. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A count of tokens or an index: a whole number, not negative. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** What a table has under a name of unknown origin; never what every object inherits, such as `constructor`. */
export function getOwn<Value>(
  table: Readonly<Record<string, Value>>,
  name: string | undefined,
): Value | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * What a model sent as the arguments of a call: nothing counts as no arguments, and text that is not JSON stays
 * text, so that validation can show it to the model.
 */
export function parseArguments(text: string): unknown {
  if (text.trim() === "") return {};
  const value = parseJson(text);
  return value === undefined ? text : value;
}

/**
 * Half of a surrogate pair (a text that was cut in the middle of an emoji) is legal in a JavaScript string but not
 * in the JSON that vendors accept: it becomes the replacement character.
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

/** How long the messages of a long conversation may be written down before others have their turn, heartbeats first. */
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
  // `JSON.stringify` escapes nothing but lone halves in this form; a false alarm only costs the slow way.
  if (!/\\ud[89a-f]/.test(json)) return json;
  // Escape by escape, so that a backslash that is escaped itself is not taken for the beginning of one.
  return json.replace(/\\(?:u(d[89a-f])[0-9a-f]{2}|.)/g, (escaped, half?: string) =>
    half === undefined ? escaped : "\ufffd",
  );
}
