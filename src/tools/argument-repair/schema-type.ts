export type JsonSchema = Readonly<Record<string, unknown>>;

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
export type SchemaType = (typeof TYPES)[number];

/** Empty when the schema does not say. */
export function getTypes({ type }: JsonSchema): readonly SchemaType[] {
  const declared: readonly unknown[] = Array.isArray(type) ? type : [type];
  return TYPES.filter((known) => declared.includes(known));
}

export function isOfType(value: unknown, type: SchemaType): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      // The types that are left are named as JavaScript names them.
      return typeof value === type;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How many references may follow one another before the schema counts as one that says nothing. */
const MAX_HOPS = 32;

/** The schema itself or what it refers to within `root`; `undefined` for one that says nothing, such as `true`. */
export function dereference(schema: unknown, root: JsonSchema): JsonSchema | undefined {
  let here = schema;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    if (!isObject(here)) return undefined;
    const reference = here["$ref"];
    if (typeof reference !== "string") return here;
    here = resolvePointer(reference, root);
  }
  return undefined;
}

function resolvePointer(reference: string, root: JsonSchema): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let here: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(here) || !Object.hasOwn(here, key)) return undefined;
    here = here[key];
  }
  return here;
}

export function getProperties({ properties }: JsonSchema): JsonSchema {
  return isObject(properties) ? properties : {};
}

/** The forms that a value may have one of; `undefined` when the schema offers no choice. */
export function getChoices({ anyOf, oneOf }: JsonSchema): readonly unknown[] | undefined {
  return Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
}
