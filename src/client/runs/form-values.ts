import { asFields, asList, asText, type JsonObject } from "../../platform/text/json.ts";
import type { UserValues } from "../../schema/user-question.ts";

// Validates the values of a form that a tool's server requests: an object with plain fields, in the subset of JSON Schema
// that such forms use. The server validates everything else in the schema.

type FormValue = UserValues[string];

export type FormField = {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** "text", "number", "one of red, green", … */
  readonly kind: string;
  readonly required: boolean;
  readonly preset: unknown;
};

export type FormValuesCheck =
  | { readonly ok: true; readonly values: UserValues }
  /** One sentence for each invalid field. */
  | { readonly ok: false; readonly problems: readonly string[] };

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d\d-\d\d[Tt ]/.test(text) && !Number.isNaN(Date.parse(text)),
};

export function listFormFields(schema: JsonObject): readonly FormField[] {
  const required = asTexts(schema["required"]);
  return Object.entries(asFields(schema["properties"])).map(([name, said]) => {
    const field = asFields(said);
    return {
      name,
      title: asText(field["title"]),
      description: asText(field["description"]),
      kind: describeField(field),
      required: required.includes(name),
      preset: field["default"],
    };
  });
}

/** Validates values, and fills in the presets of the form. */
export function checkFormValues(schema: JsonObject, given: JsonObject): FormValuesCheck {
  const properties = asFields(schema["properties"]);
  const required = asTexts(schema["required"]);
  const values: [string, FormValue][] = [];
  const problems: string[] = [];
  for (const name of Object.keys(given).filter((one) => !Object.hasOwn(properties, one))) {
    problems.push(`${name}: unknown field; the form has ${Object.keys(properties).join(", ") || "none"}`);
  }
  for (const [name, givenValue] of Object.entries(properties)) {
    const field = asFields(givenValue);
    const value = Object.hasOwn(given, name) ? given[name] : field["default"];
    if (value === undefined || value === null) {
      if (required.includes(name)) problems.push(`${name}: required (${describeField(field)})`);
      continue;
    }
    const problem = findFieldProblem(field, value);
    if (problem === undefined) values.push([name, value as FormValue]);
    else problems.push(`${name}: found ${shorten(value)}, expected ${problem}`);
  }
  return problems.length === 0 ? { ok: true, values: Object.fromEntries(values) } : { ok: false, problems };
}

/** Parses typed text by the field's type. Text that cannot be parsed remains text, which validation rejects. */
export function parseTypedValue(schema: JsonObject, name: string, text: string): unknown {
  const field = asFields(asFields(schema["properties"])[name]);
  const type = field["type"];
  if (type === "array" && !text.trim().startsWith("[")) return text.split(",").map((one) => one.trim());
  if (type !== "array" && type !== "number" && type !== "integer" && type !== "boolean") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns what was expected of an invalid value; nothing for a valid one. */
function findFieldProblem(field: JsonObject, value: unknown): string | undefined {
  switch (field["type"]) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "number":
    case "integer": {
      const isWhole = field["type"] === "number" || Number.isInteger(value);
      const fits = typeof value === "number" && Number.isFinite(value) && isWhole;
      return fits && isWithin(value, field["minimum"], field["maximum"]) ? undefined : describeField(field);
    }
    case "array": {
      const choices = getChoices(asFields(field["items"]));
      const fits =
        Array.isArray(value) &&
        value.every((one) => typeof one === "string" && (choices?.includes(one) ?? true)) &&
        isWithin(value.length, field["minItems"], field["maxItems"]);
      return fits ? undefined : describeField(field);
    }
    default: {
      if (typeof value !== "string") return describeField(field);
      const choices = getChoices(field);
      if (choices !== undefined) return choices.includes(value) ? undefined : describeField(field);
      const format = FORMATS[asText(field["format"]) ?? ""];
      const fits =
        isWithin([...value].length, field["minLength"], field["maxLength"]) && (format?.(value) ?? true);
      return fits ? undefined : describeField(field);
    }
  }
}

function describeField(field: JsonObject): string {
  switch (field["type"]) {
    case "boolean":
      return "true or false";
    case "number":
    case "integer":
      return `${field["type"] === "integer" ? "a whole number" : "a number"}${formatRange(field["minimum"], field["maximum"])}`;
    case "array": {
      const choices = getChoices(asFields(field["items"]));
      const what = choices === undefined ? "a list of texts" : `a list of ${choices.map(shorten).join(", ")}`;
      return `${what}${formatRange(field["minItems"], field["maxItems"])}`;
    }
    default: {
      const choices = getChoices(field);
      if (choices !== undefined) return `one of ${choices.map(shorten).join(", ")}`;
      const format = asText(field["format"]);
      const long = formatRange(field["minLength"], field["maxLength"]);
      return `a text${format === undefined ? "" : ` (${format})`}${long === "" ? "" : `${long} letters`}`;
    }
  }
}

function getChoices(field: JsonObject): readonly string[] | undefined {
  if (Array.isArray(field["enum"])) return asTexts(field["enum"]);
  const titled = field["oneOf"] ?? field["anyOf"];
  if (!Array.isArray(titled)) return undefined;
  return titled.flatMap((one) => asText(asFields(one)["const"]) ?? []);
}

function isWithin(size: number, least: unknown, most: unknown): boolean {
  return (typeof least !== "number" || size >= least) && (typeof most !== "number" || size <= most);
}

function formatRange(least: unknown, most: unknown): string {
  const [from, to] = [
    typeof least === "number" ? least : undefined,
    typeof most === "number" ? most : undefined,
  ];
  if (from === undefined && to === undefined) return "";
  if (to === undefined) return ` of at least ${from}`;
  return from === undefined ? ` of at most ${to}` : ` of ${from} to ${to}`;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

function asTexts(value: unknown): readonly string[] {
  return asList(value).filter((one) => typeof one === "string");
}
