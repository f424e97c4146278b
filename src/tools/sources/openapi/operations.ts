import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { METHODS, type Method } from "./call.ts";
import { at, isObject, type JsonObject, listOf, textOf } from "./json.ts";
import { type References, UnresolvedError } from "./references.ts";

/** An operation that the author wants. */
export type Operation = {
  readonly id: string;
  /** Unique in the document, also where the id is not. */
  readonly remote: string;
  readonly method: Method;
  readonly path: string;
  readonly item: JsonObject;
  readonly body: JsonObject;
};

/** An operation that is no tool, and why. */
export type LeftOut = {
  readonly method: string;
  readonly path: string;
  readonly id?: string;
  readonly why: string;
  /** The author has chosen others: nothing to warn of. */
  readonly chosen?: true;
};

export type Found = { readonly operations: readonly Operation[]; readonly leftOut: readonly LeftOut[] };

const NO_ID = "it has no operationId";

/** All of a document, in its order, filtered as the author says (OAPI-05). */
export function operationsOf(references: References, { operations: filter }: OpenApiSettings): Found {
  const operations: Operation[] = [];
  const leftOut: LeftOut[] = [];
  const ids = new Set<string>();
  const paths = at(references.root, "paths");
  for (const [path, entry] of Object.entries(isObject(paths) ? paths : {})) {
    if (!path.startsWith("/")) continue;
    let item: unknown;
    try {
      item = references.follow(entry);
    } catch (error) {
      if (!(error instanceof UnresolvedError)) throw error;
      leftOut.push({ method: "*", path, why: error.message });
      continue;
    }
    if (!isObject(item)) continue;
    if (isObject(item["trace"])) leftOut.push({ method: "trace", path, why: "TRACE is not sent" });
    for (const method of METHODS) {
      const body = item[method];
      if (!isObject(body)) continue;
      const id = textOf(body["operationId"]);
      const omit = (why: string, chosen?: true) =>
        leftOut.push({
          method,
          path,
          ...(id === undefined ? {} : { id }),
          why,
          ...(chosen === undefined ? {} : { chosen }),
        });
      if (!isWanted(filter, path, id, body)) omit("the filter leaves it out", true);
      else if (id === undefined || id === "") omit(NO_ID);
      else {
        const remote = ids.has(id) ? `${id} (${method} ${path})` : id;
        ids.add(id);
        operations.push({ id, remote, method, path, item, body });
      }
    }
  }
  return { operations, leftOut };
}

function isWanted(
  filter: OpenApiSettings["operations"],
  path: string,
  id: string | undefined,
  body: JsonObject,
): boolean {
  if (filter === undefined) return true;
  const { ids, tags, pathPrefix } = filter;
  if (pathPrefix !== undefined && !path.startsWith(pathPrefix)) return false;
  if (ids !== undefined && (id === undefined || !ids.includes(id))) return false;
  const own = listOf(body["tags"]);
  return tags === undefined || tags.some((tag) => own.includes(tag));
}
