import { joined, shownName } from "./describe-misfits.ts";
import { dereferenced, isObject, type JsonSchema, propertiesOf } from "./schema-type.ts";

/** The fields, by path, that the schema does not name and that a tool's `parse` has left out. */
export function leftOut(before: unknown, after: unknown, schema: unknown, root: JsonSchema): string[] {
  return walk(before, after, schema, root, "");
}

function walk(before: unknown, after: unknown, schema: unknown, root: JsonSchema, path: string): string[] {
  const here = dereferenced(schema, root);
  if (here === undefined) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    return before.flatMap((item, index) =>
      walk(item, after[index], here["items"], root, joined(path, String(index))),
    );
  }
  if (!isObject(before) || !isObject(after) || here["properties"] === undefined) return [];
  const properties = propertiesOf(here);
  return Object.entries(before).flatMap(([name, field]) => {
    const place = joined(path, shownName(name));
    if (Object.hasOwn(properties, name)) return walk(field, after[name], properties[name], root, place);
    return Object.hasOwn(after, name) ? [] : [place];
  });
}
