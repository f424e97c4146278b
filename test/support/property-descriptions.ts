type Schema = Readonly<Record<string, unknown>>;

const isTable = (value: unknown): value is Schema => typeof value === "object" && value !== null;

/**
 * Lists the places of all properties of a JSON Schema, wherever they stand in it, and of those that have no description.
 *
 * A property that refers to another schema has the description of that one unless it has its own. A literal needs none: it
 * says what it is, and tells the forms of a union apart.
 */
export function checkDescriptions(root: object): {
  readonly all: readonly string[];
  readonly bare: readonly string[];
} {
  const properties = [...listProperties(root, "")];
  const bare = properties.filter(
    ([, property]) =>
      property["const"] === undefined && String(findDescription(property, root) ?? "").trim() === "",
  );
  return { all: properties.map(([place]) => place), bare: bare.map(([place]) => place) };
}

function* listProperties(
  schema: unknown,
  place: string,
): Generator<readonly [place: string, property: Schema]> {
  if (!isTable(schema)) return;
  for (const [key, inner] of Object.entries(schema)) {
    if (key !== "properties") yield* listProperties(inner, `${place}/${key}`);
    else
      for (const [name, property] of Object.entries(inner as Readonly<Record<string, Schema>>)) {
        yield [`${place}.${name}`, property];
        yield* listProperties(property, `${place}.${name}`);
      }
  }
}

/** Finds the description of a schema, or of the one that it refers to. */
function findDescription(schema: Schema, root: object): unknown {
  const { description, $ref: reference } = schema;
  return (
    description ??
    (typeof reference === "string" ? findDescription(resolve(reference, root), root) : undefined)
  );
}

function resolve(reference: string, root: object): Schema {
  return reference
    .split("/")
    .slice(1)
    .reduce<Schema>((here, key) => here[key] as Schema, root as Schema);
}
