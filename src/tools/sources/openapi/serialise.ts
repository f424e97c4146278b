import { isObject } from "../../../platform/text/json.ts";
import type { Style } from "./open-api-call.ts";

// Serialises values for paths, queries, headers and forms: RFC 6570 as OpenAPI 3 uses it.

/** One `name=value` of a query or a form, both encoded. */
export type Pair = readonly [name: string, value: string];

export type SerialisationStyle = {
  readonly style: Style;
  readonly explode: boolean;
  readonly reserved?: true | undefined;
};

/** Encodes everything but letters, digits and `-._~` (RFC 3986). */
export function encode(text: string): string {
  return encodeURIComponent(toWellFormed(text)).replace(/[!'()*]/g, toPercentEncoding);
}

/** Encodes, but keeps reserved characters except those that would end the value or begin another. */
function encodeKeepingReserved(text: string): string {
  return encode(text).replace(/%(3A|2F|3F|40|21|24|28|29|2A|2C|3D)/g, (code) => decodeURIComponent(code));
}

function toPercentEncoding(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Half of a surrogate pair cannot be encoded. */
function toWellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}

/** Formats a value as text. */
export function formatValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

type Encode = (text: string) => string;

/** Serialises a part of a path, its prefix included. */
export function serialisePathParameter(
  name: string,
  value: unknown,
  { style, explode }: SerialisationStyle,
): string {
  const label = encode(name);
  if (style === "matrix") {
    if (isPlain(value)) return formatMatrixPair(label, encode(formatValue(value)));
    if (!explode) return formatMatrixPair(label, formatItems(value, false, encode).join(","));
    const pairs = Array.isArray(value)
      ? listMembers(value).map((member) => [label, encode(formatValue(member))])
      : listEntries(value).map(([key, member]) => [encode(key), encode(formatValue(member))]);
    return pairs.map(([key, pairValue]) => formatMatrixPair(key ?? "", pairValue ?? "")).join("");
  }
  const values = formatItems(value, explode, encode);
  if (style === "label") return values.length === 0 ? "" : `.${values.join(explode ? "." : ",")}`;
  return values.join(",");
}

function formatMatrixPair(label: string, value: string): string {
  return value === "" ? `;${label}` : `;${label}=${value}`;
}

/** Serialises a header value. Header values are not encoded. */
export function serialiseHeader(value: unknown, { explode }: SerialisationStyle): string {
  return formatItems(value, explode, (text) => text).join(",");
}

const DELIMITERS = { form: ",", spaceDelimited: "%20", pipeDelimited: "%7C" } as const;

export function serialiseQueryParameter(
  name: string,
  value: unknown,
  { style, explode, reserved }: SerialisationStyle,
): readonly Pair[] {
  const encodeValue: Encode = reserved === true ? encodeKeepingReserved : encode;
  const label = encode(name);
  if (style === "deepObject") return serialiseDeepObject(label, value, encodeValue);
  if (isPlain(value)) return [[label, encodeValue(formatValue(value))]];
  if (explode) {
    if (Array.isArray(value))
      return listMembers(value).map((member) => [label, encodeValue(formatValue(member))]);
    return listEntries(value).map(([key, member]) => [encode(key), encodeValue(formatValue(member))]);
  }
  const delimiter = style in DELIMITERS ? DELIMITERS[style as keyof typeof DELIMITERS] : ",";
  const values = formatItems(value, false, encodeValue);
  return values.length === 0 ? [] : [[label, values.join(delimiter)]];
}

/** Serialises `filter[name]=x`; lists of scalars as `ids[]=1`, of objects as `items[0][id]=1`, as most servers expect. */
function serialiseDeepObject(label: string, value: unknown, encodeValue: Encode): readonly Pair[] {
  if (isPlain(value)) return [[label, encodeValue(formatValue(value))]];
  if (Array.isArray(value)) {
    return listMembers(value).flatMap((member, index) =>
      isPlain(member)
        ? [[`${label}%5B%5D`, encodeValue(formatValue(member))] as const]
        : serialiseDeepObject(`${label}%5B${index}%5D`, member, encodeValue),
    );
  }
  return listEntries(value).flatMap(([key, member]) =>
    serialiseDeepObject(`${label}%5B${encode(key)}%5D`, member, encodeValue),
  );
}

function isPlain(value: unknown): boolean {
  return !Array.isArray(value) && !isObject(value);
}

function listMembers(value: readonly unknown[]): readonly unknown[] {
  return value.filter((member) => !isAbsent(member));
}

function listEntries(value: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(isObject(value) ? value : {}).filter(([, member]) => !isAbsent(member));
}

function formatItems(value: unknown, explode: boolean, encodeValue: Encode): readonly string[] {
  if (isPlain(value)) return [encodeValue(formatValue(value))];
  if (Array.isArray(value)) return listMembers(value).map((member) => encodeValue(formatValue(member)));
  const pairs = listEntries(value).map(
    ([key, member]) => [encodeValue(key), encodeValue(formatValue(member))] as const,
  );
  return explode ? pairs.map(([key, member]) => `${key}=${member}`) : pairs.flat();
}
