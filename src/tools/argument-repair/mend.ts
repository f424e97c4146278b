import { coerce } from "./coerce.ts";
import { joined, shownName } from "./describe-misfits.ts";
import { fits } from "./judge.ts";
import {
  choicesOf,
  dereferenced,
  isObject,
  isOfType,
  type JsonSchema,
  propertiesOf,
  typesOf,
} from "./schema-type.ts";

export type Mended = {
  readonly value: unknown;
  /** What was done, a few words each. */
  readonly notes: readonly string[];
  /** Unknown fields that were left out, by path. */
  readonly dropped: readonly string[];
};

type Place = { readonly path: string; readonly depth: number };
type Walk = {
  readonly root: JsonSchema;
  /** Choices that may still be tried, so that no value makes the walk long. */
  choices: number;
};

const MAX_DEPTH = 64;
const MAX_CHOICES = 1000;

/** Changes what has one possible meaning under the schema, and leaves everything else as it is. */
export function mend(value: unknown, schema: JsonSchema): Mended {
  return mendAt(value, schema, { path: "", depth: 0 }, { root: schema, choices: MAX_CHOICES });
}

function mendAt(value: unknown, schema: unknown, place: Place, walk: Walk): Mended {
  const here = dereferenced(schema, walk.root);
  if (here === undefined || place.depth > MAX_DEPTH) return kept(value);
  const choices = choicesOf(here);
  if (choices !== undefined) return chosen(value, choices, place, walk);
  const typed = inType(value, here, place.path);
  const inner = isObject(typed.value)
    ? inObject(typed.value, here, place, walk)
    : Array.isArray(typed.value)
      ? inList(typed.value, here, place, walk)
      : kept(typed.value);
  return { ...inner, notes: [...typed.notes, ...inner.notes] };
}

function kept(value: unknown): Mended {
  return { value, notes: [], dropped: [] };
}

/** In the type that is asked, where the value can be read as one. No value can be read as two of them. */
function inType(value: unknown, schema: JsonSchema, path: string): Mended {
  const types = typesOf(schema);
  if (types.length === 0 || types.some((type) => isOfType(value, type))) return kept(value);
  const type = types.find((one) => coerce(value, one) !== undefined);
  if (type === undefined) return kept(value);
  const note = `${path || "arguments"}: ${typeof value} read as ${type}`;
  return { value: coerce(value, type), notes: [note], dropped: [] };
}

/** In the one form that the value can be brought into, when it has none yet. */
function chosen(value: unknown, choices: readonly unknown[], place: Place, walk: Walk): Mended {
  const forms = choices.map((choice) => dereferenced(choice, walk.root)).filter((form) => form !== undefined);
  if (forms.some((form) => fits(value, form, walk.root))) return kept(value);
  walk.choices -= forms.length;
  if (walk.choices < 0) return kept(value);
  const inner = { ...place, depth: place.depth + 1 };
  const mended = forms
    .map((form) => ({ form, mended: mendAt(value, form, inner, walk) }))
    .filter(({ form, mended }) => fits(mended.value, form, walk.root))
    .map(({ mended }) => mended);
  const [first] = mended;
  return first !== undefined && areSame(mended.map((one) => one.value)) ? first : kept(value);
}

function areSame(values: readonly unknown[]): boolean {
  return new Set(values.map((value) => JSON.stringify(value))).size === 1;
}

function inObject(
  value: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  place: Place,
  walk: Walk,
): Mended {
  const properties = propertiesOf(schema);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const isClosed = schema["additionalProperties"] === false && schema["patternProperties"] === undefined;
  const fields: [string, unknown][] = [];
  const notes: string[] = [];
  const dropped: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    const path = joined(place.path, shownName(name));
    const isKnown = Object.hasOwn(properties, name);
    if (!isKnown && isClosed) {
      dropped.push(path);
      continue;
    }
    const asked = isKnown ? properties[name] : schema["additionalProperties"];
    if (isKnown && field === null && !required.includes(name) && !takesNull(asked, walk.root)) {
      notes.push(`${path}: null left out`);
      continue;
    }
    const mended = mendAt(field, asked, { path, depth: place.depth + 1 }, walk);
    fields.push([name, mended.value]);
    notes.push(...mended.notes);
    dropped.push(...mended.dropped);
  }
  return { value: Object.fromEntries(fields), notes, dropped };
}

function takesNull(schema: unknown, root: JsonSchema): boolean {
  const here = dereferenced(schema, root);
  return here === undefined || fits(null, here, root);
}

function inList(value: readonly unknown[], schema: JsonSchema, place: Place, walk: Walk): Mended {
  const places = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const items = value.map((item, index) =>
    mendAt(
      item,
      index < places.length ? places[index] : schema["items"],
      { path: joined(place.path, String(index)), depth: place.depth + 1 },
      walk,
    ),
  );
  return {
    value: items.map((item) => item.value),
    notes: items.flatMap((item) => item.notes),
    dropped: items.flatMap((item) => item.dropped),
  };
}
