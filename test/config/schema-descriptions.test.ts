import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

type Schema = Readonly<Record<string, unknown>>;

const root = JSON.parse(readFileSync(join(import.meta.dirname, "../../agent.schema.json"), "utf8")) as Schema;

const isTable = (value: unknown): value is Schema => typeof value === "object" && value !== null;

/** Finds the description of a schema, or of the one that it refers to. */
function findDescription(schema: Schema): unknown {
  return (
    schema["description"] ??
    (typeof schema["$ref"] === "string" ? findDescription(resolve(schema["$ref"])) : undefined)
  );
}

function resolve(reference: string): Schema {
  return reference
    .split("/")
    .slice(1)
    .reduce<Schema>((here, key) => here[key] as Schema, root);
}

/** Lists the properties of all tables, wherever they stand in the schema. */
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

test("every property of agent.schema.json has a description", () => {
  const properties = [...listProperties(root, "")];
  expect(properties.length).toBeGreaterThan(200);
  // A literal says what it is: it tells the forms of a union apart.
  const bare = properties.filter(
    ([, property]) =>
      property["const"] === undefined && String(findDescription(property) ?? "").trim() === "",
  );
  expect(bare.map(([place]) => place)).toEqual([]);
});
