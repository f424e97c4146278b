import { isObject } from "./json.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
export type SchemaType = (typeof TYPES)[number];

/** Returns the types that the schema declares; empty if it declares none. */
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
      // The remaining types have the names that JavaScript gives them.
      return typeof value === type;
  }
}

/** The longest chain of references. A schema with a longer chain is treated as one without constraints. */
const MAX_HOPS = 32;

/** Resolves the schema's reference within `root`. Returns `undefined` for a schema without constraints, such as `true`. */
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

/** Returns the alternatives of the schema, or `undefined` if it has none. */
export function getChoices({ anyOf, oneOf }: JsonSchema): readonly unknown[] | undefined {
  return Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
}
