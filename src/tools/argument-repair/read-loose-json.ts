import { isObject, parseJson } from "../../platform/text/json.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../../platform/text/json-depth.ts";
import { jsonrepair } from "./jsonrepair.ts";
import { preservesText, scan } from "./preserves-text.ts";

export type LooseJsonResult =
  | {
      readonly ok: true;
      readonly value: Readonly<Record<string, unknown>>;
      /** JSON punctuation was added or removed. */
      readonly isRepaired: boolean;
    }
  /** `found`: describes the text so that a model can act on it. */
  | { readonly ok: false; readonly found: string };

/** Reads the text of a call's arguments as an object, if that needs no guess (see preserves-text.ts). */
export function readLooseObject(text: string): LooseJsonResult {
  if (isTooDeep(text)) return { ok: false, found: `JSON of more than ${MAX_JSON_DEPTH} levels` };
  const strict = parseJson(text);
  if (strict !== undefined) return toLooseJsonResult(strict, false);

  const body = stripFence(text);
  const source = scan(body);
  // The text after the cut is unknown: half a command must not run, nor half a file be written.
  if (source.ending === "within")
    return { ok: false, found: "JSON that is cut off within a value or before one" };
  const value = parseJson(body) ?? repairJson(body);
  if (isObject(value) && !preservesText(source, value))
    return { ok: false, found: "loose JSON that cannot be repaired without a guess" };
  return toLooseJsonResult(value, true);
}

function toLooseJsonResult(value: unknown, isRepaired: boolean): LooseJsonResult {
  return isObject(value)
    ? { ok: true, value, isRepaired }
    : { ok: false, found: "a text that is not a JSON object" };
}

/** Returns `undefined` if the library cannot repair the text. */
function repairJson(text: string): unknown {
  try {
    return JSON.parse(jsonrepair(text));
  } catch {
    return undefined;
  }
}

function stripFence(text: string): string {
  return /^\s*```(?:json)?[ \t]*\n([\s\S]*?)\n?[ \t]*```\s*$/i.exec(text)?.[1] ?? text;
}
