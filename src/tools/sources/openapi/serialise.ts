import type { Style } from "./call.ts";
import { isObject } from "./json.ts";

// How values go into paths, queries, headers and forms: RFC 6570 as OpenAPI 3 uses it.

/** One `name=value` of a query or a form, both encoded. */
export type Pair = readonly [name: string, value: string];

export type Manner = {
  readonly style: Style;
  readonly explode: boolean;
  readonly reserved?: true | undefined;
};

/** Everything but letters, digits and `-._~` (RFC 3986). */
export function encode(text: string): string {
  return encodeURIComponent(wellFormed(text)).replace(/[!'()*]/g, hex);
}

/** Reserved letters stay, but those that would end the value or begin another. */
function encodeReserved(text: string): string {
  return encode(text).replace(/%(3A|2F|3F|40|21|24|28|29|2A|2C|3D)/g, (code) => decodeURIComponent(code));
}

function hex(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Half of a pair of surrogates cannot be encoded. */
function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}

/** A word for a place that takes one. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

type Encode = (text: string) => string;

/** The part of a path, its prefix included. */
export function pathPart(name: string, value: unknown, { style, explode }: Manner): string {
  const label = encode(name);
  if (style === "matrix") {
    if (isPlain(value)) return matrixPair(label, encode(wordOf(value)));
    if (!explode) return matrixPair(label, items(value, false, encode).join(","));
    const pairs = Array.isArray(value)
      ? members(value).map((member) => [label, encode(wordOf(member))])
      : entries(value).map(([key, member]) => [encode(key), encode(wordOf(member))]);
    return pairs.map(([key, word]) => matrixPair(key ?? "", word ?? "")).join("");
  }
  const words = items(value, explode, encode);
  if (style === "label") return words.length === 0 ? "" : `.${words.join(explode ? "." : ",")}`;
  return words.join(",");
}

function matrixPair(label: string, word: string): string {
  return word === "" ? `;${label}` : `;${label}=${word}`;
}

/** Not encoded: headers are what they are. */
export function headerValue(value: unknown, { explode }: Manner): string {
  return items(value, explode, (text) => text).join(",");
}

const DELIMITERS = { form: ",", spaceDelimited: "%20", pipeDelimited: "%7C" } as const;

export function queryPairs(
  name: string,
  value: unknown,
  { style, explode, reserved }: Manner,
): readonly Pair[] {
  const word: Encode = reserved === true ? encodeReserved : encode;
  const label = encode(name);
  if (style === "deepObject") return deepPairs(label, value, word);
  if (isPlain(value)) return [[label, word(wordOf(value))]];
  if (explode) {
    if (Array.isArray(value)) return members(value).map((member) => [label, word(wordOf(member))]);
    return entries(value).map(([key, member]) => [encode(key), word(wordOf(member))]);
  }
  const delimiter = style in DELIMITERS ? DELIMITERS[style as keyof typeof DELIMITERS] : ",";
  const words = items(value, false, word);
  return words.length === 0 ? [] : [[label, words.join(delimiter)]];
}

/** `filter[name]=x`; lists of words as `ids[]=1`, lists of tables as `items[0][id]=1`, as most servers read them. */
function deepPairs(label: string, value: unknown, word: Encode): readonly Pair[] {
  if (isPlain(value)) return [[label, word(wordOf(value))]];
  if (Array.isArray(value)) {
    return members(value).flatMap((member, index) =>
      isPlain(member)
        ? [[`${label}%5B%5D`, word(wordOf(member))] as const]
        : deepPairs(`${label}%5B${index}%5D`, member, word),
    );
  }
  return entries(value).flatMap(([key, member]) => deepPairs(`${label}%5B${encode(key)}%5D`, member, word));
}

function isPlain(value: unknown): boolean {
  return !Array.isArray(value) && !isObject(value);
}

function members(value: readonly unknown[]): readonly unknown[] {
  return value.filter((member) => !isAbsent(member));
}

function entries(value: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(isObject(value) ? value : {}).filter(([, member]) => !isAbsent(member));
}

function items(value: unknown, explode: boolean, word: Encode): readonly string[] {
  if (isPlain(value)) return [word(wordOf(value))];
  if (Array.isArray(value)) return members(value).map((member) => word(wordOf(member)));
  const pairs = entries(value).map(([key, member]) => [word(key), word(wordOf(member))] as const);
  return explode ? pairs.map(([key, member]) => `${key}=${member}`) : pairs.flat();
}
