import { type JsonSchema, type Mutate, type Mutator, nameLossless, pick, type Random } from "../mutator.ts";

// JSON that is well formed, but not what the schema says.

type Field = {
  readonly owner: Record<string, unknown>;
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
};

/** Lists the fields of a value that its schema knows, at every depth. */
function listFields(value: unknown, schema: JsonSchema): Field[] {
  if (Array.isArray(value))
    return value.flatMap((item) => listFields(item, (schema["items"] ?? {}) as JsonSchema));
  if (typeof value !== "object" || value === null) return [];
  const owner = value as Record<string, unknown>;
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  const required = (schema["required"] ?? []) as readonly string[];
  return Object.keys(owner).flatMap((name) => {
    const own = properties[name] ?? {};
    return [
      { owner, name, schema: own, isRequired: required.includes(name) },
      ...listFields(owner[name], own),
    ];
  });
}

type Change = (field: Field, random: Random) => void;

/** Changes all fields that `fits`, or one of them. */
function changeFields(fits: (field: Field) => boolean, change: Change, which: "all" | "one" = "all"): Mutate {
  return (text, random, schema) => {
    const value = JSON.parse(text) as unknown;
    const fields = listFields(value, schema).filter(fits);
    if (fields.length === 0) return text;
    for (const field of which === "all" ? fields : [pick(random, fields)]) change(field, random);
    return JSON.stringify(value, null, 2);
  };
}

const set =
  (convert: (value: never, random: Random) => unknown): Change =>
  ({ owner, name }, random) => {
    owner[name] = convert(owner[name] as never, random);
  };

const isNumber = ({ owner, name }: Field) => typeof owner[name] === "number";
const isBoolean = ({ owner, name }: Field) => typeof owner[name] === "boolean";
const isEnum = ({ owner, name, schema }: Field) =>
  typeof owner[name] === "string" && Array.isArray(schema["enum"]);
const isList = ({ owner, name }: Field) => Array.isArray(owner[name]);
const isObject = ({ owner, name }: Field) =>
  typeof owner[name] === "object" && owner[name] !== null && !Array.isArray(owner[name]);
const hasOneItem = ({ owner, name }: Field) => Array.isArray(owner[name]) && owner[name].length === 1;
const isText = ({ owner, name, schema }: Field) =>
  typeof owner[name] === "string" && schema["enum"] === undefined;
const hasDefault = ({ schema }: Field) => schema["default"] !== undefined;
const hasNullableDefault = ({ schema }: Field) => schema["default"] === null;

function renameKeys(rename: (key: string) => string): Mutate {
  return (text) => JSON.stringify(renameIn(JSON.parse(text), rename), null, 2);
}

function renameIn(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renameIn(item, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [rename(key), renameIn(item, rename)]),
  );
}

const capitalise = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const LOSSLESS: readonly Mutator[] = nameLossless({
  "numbers-as-text": changeFields(isNumber, set(String)),
  "numbers-with-percent": changeFields(
    (field) => isNumber(field) && field.name === "confidence",
    set((value) => `${String(value)}%`),
  ),
  "numbers-with-spaces": changeFields(
    isNumber,
    set((value) => ` ${String(value)} `),
  ),
  "numbers-in-lists": changeFields(
    isNumber,
    set((value) => [value]),
    "one",
  ),
  "booleans-as-text": changeFields(isBoolean, set(String)),
  "booleans-as-python-text": changeFields(
    isBoolean,
    set((value) => (value ? "True" : "False")),
  ),
  "booleans-as-words": changeFields(
    isBoolean,
    set((value) => (value ? "yes" : "no")),
  ),
  "booleans-as-numbers": changeFields(
    isBoolean,
    set((value) => (value ? 1 : 0)),
  ),
  "enum-upper-case": changeFields(
    isEnum,
    set((value: string) => value.toUpperCase()),
  ),
  "enum-capitalised": changeFields(isEnum, set(capitalise)),
  "enum-with-spaces": changeFields(
    isEnum,
    set((value: string) => ` ${value.replaceAll("_", " ")} `),
  ),
  "enum-with-hyphens": changeFields(
    isEnum,
    set((value: string) => value.replaceAll("_", "-")),
  ),
  "enum-in-camel-case": changeFields(
    isEnum,
    set((value: string) => value.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())),
  ),
  "enum-in-list": changeFields(
    isEnum,
    set((value) => [value]),
    "one",
  ),
  "single-value-for-list": changeFields(
    hasOneItem,
    set((value: readonly unknown[]) => value[0]),
  ),
  "list-as-json-text": changeFields(
    isList,
    set((value) => JSON.stringify(value)),
  ),
  "object-as-json-text": changeFields(
    isObject,
    set((value) => JSON.stringify(value)),
  ),
  "object-in-list": changeFields(
    isObject,
    set((value) => [value]),
    "one",
  ),
  "text-in-list": changeFields(
    isText,
    set((value) => [value]),
    "one",
  ),
  "camel-case-keys": renameKeys((key) => key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())),
  "capitalised-keys": renameKeys(capitalise),
  "hyphenated-keys": renameKeys((key) => key.replaceAll("_", "-")),
  "keys-with-spaces": renameKeys((key) => ` ${key} `),
  "unknown-field": (text) => text.replace(/^\s*\{/, '{"reasoning": "I read the diff first.",'),
  "unknown-field-null": (text) => text.replace(/\}\s*$/, ', "error": null}'),
  "unknown-fields-inside": changeFields(isObject, ({ owner, name }) => {
    (owner[name] as Record<string, unknown>)["note"] = ["see above"];
  }),
  "type-field": (text, random) =>
    text.replace(/^\s*\{/, `{"type": "${pick(random, ["object", "review"])}", "$schema": "x",`),
});

export const SCHEMA_FAULTS: readonly Mutator[] = [
  ...LOSSLESS,
  {
    name: "default-missing",
    loss: "part",
    mutate: changeFields(hasDefault, ({ owner, name }) => delete owner[name], "one"),
  },
  {
    name: "all-defaults-missing",
    loss: "part",
    mutate: changeFields(hasDefault, ({ owner, name }) => delete owner[name]),
  },
  {
    name: "null-for-default",
    loss: "part",
    mutate: changeFields(
      (field) => hasDefault(field) && !hasNullableDefault(field),
      set(() => null),
    ),
  },
  {
    name: "empty-text-for-list",
    loss: "part",
    mutate: changeFields(
      (field) => isList(field) && hasDefault(field),
      set(() => ""),
      "one",
    ),
  },
  {
    name: "required-missing",
    loss: "essential",
    mutate: changeFields(
      ({ isRequired }) => isRequired,
      ({ owner, name }) => delete owner[name],
      "one",
    ),
  },
  {
    name: "required-null",
    loss: "essential",
    mutate: changeFields(
      ({ isRequired }) => isRequired,
      set(() => null),
      "one",
    ),
  },
  {
    name: "enum-unknown",
    loss: "essential",
    mutate: changeFields(
      (field) => isEnum(field) && field.isRequired,
      set(() => "blocker"),
      "one",
    ),
  },
  {
    name: "number-as-word",
    loss: "essential",
    mutate: changeFields(
      (field) => isNumber(field) && field.isRequired,
      set(() => "very"),
      "one",
    ),
  },
  { name: "prose-only", loss: "essential", mutate: () => "I could not read the repository, sorry." },
  {
    name: "empty",
    loss: "essential",
    mutate: (_text, random) => pick(random, ["", " \n", "{}", "null", "[]"]),
  },
];
