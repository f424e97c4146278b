import type { PersonValues } from "../../schema/person.ts";

// The values of a form that a tool's server has asked for: an object with plain fields, by the part of JSON Schema that
// such forms have. What the schema says beyond that is the server's to judge.

type Fields = Readonly<Record<string, unknown>>;
type Value = PersonValues[string];

export type FormField = {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** "text", "number", "one of red, green", … */
  readonly kind: string;
  readonly required: boolean;
  readonly preset: unknown;
};

export type FittedValues =
  | { readonly ok: true; readonly values: PersonValues }
  /** A sentence for each field that does not fit. */
  | { readonly ok: false; readonly problems: readonly string[] };

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d\d-\d\d[Tt ]/.test(text) && !Number.isNaN(Date.parse(text)),
};

export function formFields(schema: Fields): readonly FormField[] {
  const required = listOf(schema["required"]);
  return Object.entries(objectOf(schema["properties"])).map(([name, said]) => {
    const field = objectOf(said);
    return {
      name,
      title: textOf(field["title"]),
      description: textOf(field["description"]),
      kind: kindOf(field),
      required: required.includes(name),
      preset: field["default"],
    };
  });
}

/** Values as they are sent, with what the form presets where nothing is given. */
export function fittedValues(schema: Fields, given: Fields): FittedValues {
  const properties = objectOf(schema["properties"]);
  const required = listOf(schema["required"]);
  const values: [string, Value][] = [];
  const problems: string[] = [];
  for (const name of Object.keys(given).filter((one) => !Object.hasOwn(properties, one))) {
    problems.push(
      `${name}: there is no such field; the form has ${Object.keys(properties).join(", ") || "none"}`,
    );
  }
  for (const [name, said] of Object.entries(properties)) {
    const field = objectOf(said);
    const value = Object.hasOwn(given, name) ? given[name] : field["default"];
    if (value === undefined || value === null) {
      if (required.includes(name)) problems.push(`${name}: it is required (${kindOf(field)})`);
      continue;
    }
    const problem = problemOf(field, value);
    if (problem === undefined) values.push([name, value as Value]);
    else problems.push(`${name}: found ${short(value)}, expected ${problem}`);
  }
  return problems.length === 0 ? { ok: true, values: Object.fromEntries(values) } : { ok: false, problems };
}

/** A value as it was typed, by what the field wants. What cannot be read stays a text, for the check to refuse. */
export function typedValue(schema: Fields, name: string, text: string): unknown {
  const field = objectOf(objectOf(schema["properties"])[name]);
  const type = field["type"];
  if (type === "array" && !text.trim().startsWith("[")) return text.split(",").map((one) => one.trim());
  if (type !== "array" && type !== "number" && type !== "integer" && type !== "boolean") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What was expected of a value that does not fit. */
function problemOf(field: Fields, value: unknown): string | undefined {
  switch (field["type"]) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "number":
    case "integer": {
      const isWhole = field["type"] === "number" || Number.isInteger(value);
      const fits = typeof value === "number" && Number.isFinite(value) && isWhole;
      return fits && within(value, field["minimum"], field["maximum"]) ? undefined : kindOf(field);
    }
    case "array": {
      const choices = choicesOf(objectOf(field["items"]));
      const fits =
        Array.isArray(value) &&
        value.every((one) => typeof one === "string" && (choices?.includes(one) ?? true)) &&
        within(value.length, field["minItems"], field["maxItems"]);
      return fits ? undefined : kindOf(field);
    }
    default: {
      if (typeof value !== "string") return kindOf(field);
      const choices = choicesOf(field);
      if (choices !== undefined) return choices.includes(value) ? undefined : kindOf(field);
      const format = FORMATS[textOf(field["format"]) ?? ""];
      const fits =
        within([...value].length, field["minLength"], field["maxLength"]) && (format?.(value) ?? true);
      return fits ? undefined : kindOf(field);
    }
  }
}

function kindOf(field: Fields): string {
  switch (field["type"]) {
    case "boolean":
      return "true or false";
    case "number":
    case "integer":
      return `${field["type"] === "integer" ? "a whole number" : "a number"}${range(field["minimum"], field["maximum"])}`;
    case "array": {
      const choices = choicesOf(objectOf(field["items"]));
      const what = choices === undefined ? "a list of texts" : `a list of ${choices.map(short).join(", ")}`;
      return `${what}${range(field["minItems"], field["maxItems"])}`;
    }
    default: {
      const choices = choicesOf(field);
      if (choices !== undefined) return `one of ${choices.map(short).join(", ")}`;
      const format = textOf(field["format"]);
      const long = range(field["minLength"], field["maxLength"]);
      return `a text${format === undefined ? "" : ` (${format})`}${long === "" ? "" : `${long} letters`}`;
    }
  }
}

function choicesOf(field: Fields): readonly string[] | undefined {
  if (Array.isArray(field["enum"])) return listOf(field["enum"]);
  const titled = field["oneOf"] ?? field["anyOf"];
  if (!Array.isArray(titled)) return undefined;
  return titled.flatMap((one) => textOf(objectOf(one)["const"]) ?? []);
}

function within(size: number, least: unknown, most: unknown): boolean {
  return (typeof least !== "number" || size >= least) && (typeof most !== "number" || size <= most);
}

function range(least: unknown, most: unknown): string {
  const [from, to] = [
    typeof least === "number" ? least : undefined,
    typeof most === "number" ? most : undefined,
  ];
  if (from === undefined && to === undefined) return "";
  if (to === undefined) return ` of at least ${from}`;
  return from === undefined ? ` of at most ${to}` : ` of ${from} to ${to}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
