import { jsonrepair } from "jsonrepair";
import { isTooDeep, MAX_JSON_DEPTH } from "../../platform/text/json-depth.ts";
import { parsedJson } from "./coerce.ts";
import { keepsText, scan } from "./keeps-text.ts";
import { isObject } from "./schema-type.ts";

export type Reading =
  | {
      readonly ok: true;
      readonly value: Readonly<Record<string, unknown>>;
      /** Marks of JSON were added or left out. */
      readonly repaired: boolean;
    }
  /** `found`: what the text is, in words that a model can act on. */
  | { readonly ok: false; readonly found: string };

/** Reads the text of a call's arguments as an object, when nothing must be guessed for it (see keeps-text.ts). */
export function readObject(text: string): Reading {
  if (isTooDeep(text)) return { ok: false, found: `JSON of more than ${MAX_JSON_DEPTH} levels` };
  const strict = parsedJson(text);
  if (strict !== undefined) return objectOrNot(strict, false);

  const body = withoutFence(text);
  const source = scan(body);
  // What stands behind the cut is unknown: half a command must not run, nor half a file be written.
  if (source.ending === "within")
    return { ok: false, found: "JSON that is cut off within a value or before one" };
  const value = parsedJson(body) ?? repaired(body);
  if (isObject(value) && !keepsText(source, value))
    return { ok: false, found: "loose JSON that cannot be repaired without a guess" };
  return objectOrNot(value, true);
}

function objectOrNot(value: unknown, isRepaired: boolean): Reading {
  return isObject(value)
    ? { ok: true, value, repaired: isRepaired }
    : { ok: false, found: "a text that is not a JSON object" };
}

/** `undefined` when the library finds no way. */
function repaired(text: string): unknown {
  try {
    return JSON.parse(jsonrepair(text));
  } catch {
    return undefined;
  }
}

function withoutFence(text: string): string {
  return /^\s*```(?:json)?[ \t]*\n([\s\S]*?)\n?[ \t]*```\s*$/i.exec(text)?.[1] ?? text;
}
