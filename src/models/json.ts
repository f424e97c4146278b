import { setImmediate as nextTurn } from "node:timers/promises";
import { parseJson } from "../platform/text/json.ts";

/** Returns a text of unknown origin; `undefined` for the empty string too, because some vendors send it for no value. */
export function asNonEmptyText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns a count of tokens or an index: a whole number, not negative. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
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
