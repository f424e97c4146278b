import { isObject } from "../../platform/text/json.ts";
import { MAX_JSON_DEPTH } from "../../platform/text/json-depth.ts";
import {
  dereference,
  getChoices,
  getProperties,
  getTypes,
  isOfType,
  type JsonSchema,
} from "../../platform/text/schema-type.ts";
import { isAmbiguous } from "./ambiguous-fields.ts";
import { convertToType, matchEnum } from "./convert-value.ts";
import { findKnownField, isClosed } from "./object-shape.ts";
import { createRepairList, formatPath, type RepairList } from "./repair-list.ts";
import { unwrapRoot } from "./unwrap-root.ts";

// Makes a value fit its schema, where only one value can be meant. What cannot be made to fit stays as it is, and the
// schema's own check refuses it: no value is invented for a required field without a default.

export type MatchesSchema = (value: unknown, schema: JsonSchema, root: JsonSchema) => boolean;

type Path = readonly (string | number)[];

type Fit = {
  readonly root: JsonSchema;
  readonly matches: MatchesSchema;
  readonly repairs: RepairList;
  /** The alternatives that may still be tried. It bounds the walk for any schema. */
  readonly budget: { choices: number };
  /** What was written can be read in two ways. */
  readonly doubt: { isAmbiguous: boolean };
};

type Place = {
  readonly path: Path;
  /** The rest of the way to the place where the text was cut off, if it leads through this value. */
  readonly cut: Path | undefined;
  readonly isWithinText: boolean;
};

const MAX_CHOICES = 1000;

/** The value can be read in two ways. */
export const AMBIGUOUS = Symbol("ambiguous");

export function fitValue(
  value: unknown,
  schema: JsonSchema,
  {
    matches,
    repairs,
    cut,
  }: {
    readonly matches: MatchesSchema;
    readonly repairs: RepairList;
    readonly cut?: { readonly path: Path; readonly isWithinText: boolean } | undefined;
  },
): unknown | typeof AMBIGUOUS {
  const doubt = { isAmbiguous: false };
  const fit: Fit = { root: schema, matches, repairs, budget: { choices: MAX_CHOICES }, doubt };
  const place = { path: [], cut: cut?.path, isWithinText: cut?.isWithinText === true };
  const fitted = fitAt(unwrapRoot(value, schema, repairs), schema, place, fit);
  return doubt.isAmbiguous ? AMBIGUOUS : fitted;
}

function fitAt(value: unknown, schema: unknown, place: Place, fit: Fit): unknown {
  const here = dereference(schema, fit.root);
  if (here === undefined || place.path.length > MAX_JSON_DEPTH) return value;
  if (place.cut === undefined && fit.matches(value, here, fit.root)) return value;
  const choices = getChoices(here);
  if (choices !== undefined) return fitChoice(value, choices, place, fit);
  const converted = convert(value, here, place, fit);
  if (isObject(converted)) return fitObject(converted, here, place, fit);
  return Array.isArray(converted) ? fitList(converted, here, place, fit) : converted;
}

function convert(
  value: unknown,
  schema: JsonSchema,
  { path, cut, isWithinText }: Place,
  { repairs }: Fit,
): unknown {
  const allowed = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (Array.isArray(allowed)) {
    const isPartial = isWithinText && cut?.length === 0;
    const member = matchEnum(value, allowed, isPartial);
    if (member === undefined || member.value === value) return value;
    repairs.add(`${formatPath(path)}: read as ${JSON.stringify(member.value)}`);
    return member.value;
  }
  const types = getTypes(schema);
  if (types.length === 0 || types.some((type) => isOfType(value, type))) return value;
  for (const type of types) {
    const converted = convertToType(value, type);
    if (converted === undefined) continue;
    repairs.add(`${formatPath(path)}: ${describe(value)} read as ${describe(converted.value)}`);
    return converted.value;
  }
  return value;
}

function describe(value: unknown): string {
  return Array.isArray(value)
    ? "list"
    : value === null
      ? "null"
      : typeof value === "string"
        ? "text"
        : typeof value;
}

/** Fits a value to the only alternative that it can be made to fit. */
function fitChoice(value: unknown, choices: readonly unknown[], place: Place, fit: Fit): unknown {
  fit.budget.choices -= choices.length;
  if (fit.budget.choices < 0) return value;
  const fitting = choices.flatMap((choice) => {
    const schema = dereference(choice, fit.root);
    if (schema === undefined) return [];
    const repairs = createRepairList();
    const doubt = { isAmbiguous: false };
    const fitted = fitAt(value, schema, place, { ...fit, repairs, doubt });
    return !doubt.isAmbiguous && fit.matches(fitted, schema, fit.root) ? [{ fitted, repairs }] : [];
  });
  const [first] = fitting;
  if (first === undefined || new Set(fitting.map(({ fitted }) => JSON.stringify(fitted))).size > 1)
    return value;
  for (const repair of first.repairs.list()) fit.repairs.add(repair);
  return first.fitted;
}

function fitObject(
  value: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  place: Place,
  fit: Fit,
): unknown {
  const properties = getProperties(schema);
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const fields = new Map<string, unknown>();
  if (isAmbiguous(value, schema)) fit.doubt.isAmbiguous = true;
  for (const [written, field] of Object.entries(value)) {
    const name = chooseField(written, value, schema);
    const path = [...place.path, name ?? written];
    if (name === undefined) {
      fit.repairs.add(`${formatPath(path)}: unknown field removed`);
      continue;
    }
    if (name !== written) fit.repairs.add(`${formatPath(path)}: found under another name`);
    const known = Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"];
    const cut = follow(place.cut, written);
    const fitted = fitAt(field, known, { ...place, path, cut }, fit);
    if (cut !== undefined && isBlank(fitted)) {
      fit.repairs.add(`${formatPath(path)}: cut off before it began, removed`);
      continue;
    }
    const isUnfit = isEmpty(fitted) && !accepts(fitted, known, fit);
    if (!isUnfit) fields.set(name, fitted);
    else if (getDefault(known, fit) === undefined && required.includes(name)) fields.set(name, fitted);
    else
      fit.repairs.add(
        `${formatPath(path)}: ${fitted === "" ? "empty text" : "null"} replaced by the default`,
      );
  }
  for (const [name, known] of Object.entries(properties)) {
    const initial = getDefault(known, fit);
    if (fields.has(name) || initial === undefined || !required.includes(name)) continue;
    fields.set(name, initial.value);
    fit.repairs.add(`${formatPath([...place.path, name])}: missing, set to the default`);
  }
  return Object.fromEntries(fields);
}

/** Returns the known field that a name means; the name itself if unknown ones are allowed; otherwise `undefined`. */
function chooseField(written: string, value: object, schema: JsonSchema): string | undefined {
  const known = findKnownField(written, schema);
  if (known !== undefined && (known === written || !Object.hasOwn(value, known))) return known;
  return isClosed(schema) ? undefined : written;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "";
}

/** Reports whether nothing of a value arrived before the cut. */
function isBlank(value: unknown): boolean {
  return value === "" || (Array.isArray(value) && value.length === 0);
}

function accepts(value: unknown, schema: unknown, { matches, root }: Fit): boolean {
  const here = dereference(schema, root);
  return here === undefined || matches(value, here, root);
}

function getDefault(schema: unknown, { root }: Fit): { readonly value: unknown } | undefined {
  const own = isObject(schema) && schema["default"] !== undefined ? schema : dereference(schema, root);
  return own?.["default"] === undefined ? undefined : { value: own["default"] };
}

function fitList(value: readonly unknown[], schema: JsonSchema, place: Place, fit: Fit): unknown {
  const prefix = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const getItemSchema = (index: number) => (index < prefix.length ? prefix[index] : schema["items"]);
  const items = value.map((item, index) => {
    const inner = { ...place, path: [...place.path, index], cut: follow(place.cut, index) };
    return fitAt(item, getItemSchema(index), inner, fit);
  });
  const last = items.length - 1;
  const isIncomplete =
    follow(place.cut, last) !== undefined && !accepts(items[last], getItemSchema(last), fit);
  if (!isIncomplete) return items;
  fit.repairs.add(`${formatPath([...place.path, last])}: incomplete, removed`);
  return items.slice(0, -1);
}

function follow(cut: Path | undefined, step: string | number): Path | undefined {
  return cut !== undefined && cut[0] === step ? cut.slice(1) : undefined;
}
