import { parseJson } from "../../platform/text/json.ts";
import { readBulletedFields } from "./bulleted-fields.ts";
import { removeLineMarks } from "./line-marks.ts";
import { replaceParentheses } from "./parentheses.ts";
import { decodePercent } from "./percent-encoding.ts";
import { removeColours } from "./terminal-colours.ts";

// Takes an answer out of what programs have put around it: JSON within a JSON text, a command of a shell, a page, colours,
// marks of lines.

export type Unwrapped = { readonly text: string; readonly repairs: readonly string[] };

type Layer = { readonly text: string; readonly repair: string };

/** Returns the text within a layer, nothing if there is no such layer, or "doubtful" if it can be read in two ways. */
type RemoveLayer = (text: string) => Layer | "doubtful" | undefined;

const LAYERS: readonly RemoveLayer[] = [
  removeJsonText,
  removeShellQuotes,
  describe(decodePercent, "percent-encoding decoded"),
  describe(removeColours, "colours of a terminal removed"),
  describe(removeLineMarks, "marks before lines removed"),
  decodeEntities,
  describe(readBulletedFields, "list of fields read as object"),
  describe(replaceParentheses, "parentheses read as brackets"),
];

/** @param remove - Returns the text unchanged or `undefined` if there is no such layer. */
function describe(remove: (text: string) => string | undefined, repair: string): RemoveLayer {
  return (text) => {
    const inner = remove(text);
    if (inner === "doubtful") return inner;
    return inner === undefined || inner === text ? undefined : { text: inner, repair };
  };
}

const MAX_LAYERS = 5;

/** Returns `undefined` where a layer can be read in two ways. */
export function unwrapText(text: string): Unwrapped | undefined {
  const repairs: string[] = [];
  let inner = text;
  while (repairs.length < MAX_LAYERS) {
    const layer = findLayer(inner);
    if (layer === "doubtful") return undefined;
    if (layer === undefined) break;
    inner = layer.text;
    repairs.push(layer.repair);
  }
  return { text: inner, repairs };
}

function findLayer(text: string): Layer | "doubtful" | undefined {
  for (const remove of LAYERS) {
    const layer = remove(text);
    if (layer !== undefined) return layer;
  }
  return undefined;
}

const READ_WITHIN = "JSON text within the answer read";

/** An object whose quotes are all escaped. */
const ESCAPED_OBJECT = /^\{(?:\s|\\[nrt])*\\"/;

/** A backslash, or an escape that is escaped itself. */
const BACKSLASH_OR_ESCAPE = /(?<!\\)\\\\[bfrtu]/;

const ESCAPED_ONCE = /(?<!\\)(?:\\\\)*\\[^"\\]/;

function removeJsonText(text: string): Layer | "doubtful" | undefined {
  const trimmed = text.trim();
  const isEscaped = ESCAPED_OBJECT.test(trimmed);
  const withQuotes = isEscaped ? trimmed.replaceAll('\\"', '"') : "";
  const isOther = isEscaped && parseJson(withQuotes) !== undefined;
  const inner = trimmed.startsWith('"')
    ? parseJson(trimmed)
    : isEscaped
      ? parseJson(`"${trimmed}"`)
      : undefined;
  const isWhole = typeof inner === "string" && (!isOther || parseJson(inner) !== undefined);
  // Only the quotes may be escaped, and not the backslashes.
  if (isWhole)
    return isOther && BACKSLASH_OR_ESCAPE.test(trimmed) ? "doubtful" : { text: inner, repair: READ_WITHIN };
  return isOther && ESCAPED_ONCE.test(trimmed) ? { text: withQuotes, repair: READ_WITHIN } : undefined;
}

/** A command that prints one word in single quotes. */
const PRINTED_WORD = /^\s*echo[ \t]+'([\s\S]*)'\s*$/;

/** How a shell writes a single quote within a word in single quotes. */
const SHELL_QUOTE = "'\\''";

function removeShellQuotes(text: string): Layer | undefined {
  const parts = PRINTED_WORD.exec(text)?.[1]?.split(SHELL_QUOTE);
  // Any other single quote ends the word.
  if (parts === undefined || parts.some((part) => part.includes("'"))) return undefined;
  return { text: parts.join("'"), repair: "quotes of a shell removed" };
}

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  "#34": '"',
  "#39": "'",
  apos: "'",
  lt: "<",
  gt: ">",
  amp: "&",
};
const ENTITY = /&(quot|#34|#39|apos|lt|gt|amp);/g;

function decodeEntities(text: string): Layer | "doubtful" | undefined {
  if (text.includes('"') || !/&(?:quot|#34);/.test(text)) return undefined;
  // Where some characters are not encoded, entities of others may be the author's.
  const isPartlyEncoded = /[<>]/.test(text) && /&(?:lt|gt|amp);/.test(text);
  if (isPartlyEncoded || (/&(?!#?\w+;)/.test(text) && text.includes("&amp;"))) return "doubtful";
  return {
    text: text.replace(ENTITY, (_, name: string) => ENTITIES[name]!),
    repair: "entities of HTML decoded",
  };
}
