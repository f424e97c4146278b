import { isObject } from "../../platform/text/json.ts";
import { dereference, getProperties, type JsonSchema } from "../../platform/text/schema-type.ts";
import { formatName, joinPath } from "./describe-schema-errors.ts";

/** Finds the paths of the fields that the schema does not name and that a tool's `parse` has dropped. */
export function findDroppedFields(
  before: unknown,
  after: unknown,
  schema: unknown,
  root: JsonSchema,
): string[] {
  return findDroppedAt(before, after, schema, root, "");
}

function findDroppedAt(
  before: unknown,
  after: unknown,
  schema: unknown,
  root: JsonSchema,
  path: string,
): string[] {
  const here = dereference(schema, root);
  if (here === undefined) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    return before.flatMap((item, index) =>
      findDroppedAt(item, after[index], here["items"], root, joinPath(path, String(index))),
    );
  }
  if (!isObject(before) || !isObject(after) || here["properties"] === undefined) return [];
  const properties = getProperties(here);
  return Object.entries(before).flatMap(([name, field]) => {
    const fieldPath = joinPath(path, formatName(name));
    if (Object.hasOwn(properties, name))
      return findDroppedAt(field, after[name], properties[name], root, fieldPath);
    return Object.hasOwn(after, name) ? [] : [fieldPath];
  });
}
