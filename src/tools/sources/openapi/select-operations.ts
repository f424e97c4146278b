import { asList, asText, getField, isObject, type JsonObject } from "../../../platform/text/json.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { METHODS, type Method } from "./open-api-call.ts";
import { type References, UnresolvedReferenceError } from "./references.ts";

/** An operation that the author has selected. */
export type Operation = {
  readonly id: string;
  /** Unique in the document, even if the id is not. */
  readonly remote: string;
  readonly method: Method;
  readonly path: string;
  readonly item: JsonObject;
  readonly body: JsonObject;
};

/** An operation that is not a tool, with the reason. */
export type SkippedOperation = {
  readonly method: string;
  readonly path: string;
  readonly id?: string;
  readonly reason: string;
  /** The author's filter excludes it: no warning is needed. */
  readonly isSelected?: true;
};

export type OperationSelection = {
  readonly operations: readonly Operation[];
  readonly skipped: readonly SkippedOperation[];
};

const NO_ID = "it has no operationId";

/** Selects the operations of a document, in its order, by the author's filter (OAPI-05). */
export function selectOperations(
  references: References,
  { operations: filter }: OpenApiSettings,
): OperationSelection {
  const operations: Operation[] = [];
  const skipped: SkippedOperation[] = [];
  const ids = new Set<string>();
  const paths = getField(references.root, "paths");
  for (const [path, entry] of Object.entries(isObject(paths) ? paths : {})) {
    if (!path.startsWith("/")) continue;
    let item: unknown;
    try {
      item = references.follow(entry);
    } catch (error) {
      if (!(error instanceof UnresolvedReferenceError)) throw error;
      skipped.push({ method: "*", path, reason: error.message });
      continue;
    }
    if (!isObject(item)) continue;
    if (isObject(item["trace"])) skipped.push({ method: "trace", path, reason: "TRACE is not sent" });
    for (const method of METHODS) {
      const body = item[method];
      if (!isObject(body)) continue;
      const id = asText(body["operationId"]);
      const skip = (reason: string, isSelected?: true) =>
        skipped.push({
          method,
          path,
          ...omitUndefined({ id }),
          reason,
          ...omitUndefined({ isSelected }),
        });
      if (!isRequested(filter, path, id, body)) skip("the filter excludes it", true);
      else if (id === undefined || id === "") skip(NO_ID);
      else {
        const remote = ids.has(id) ? `${id} (${method} ${path})` : id;
        ids.add(id);
        operations.push({ id, remote, method, path, item, body });
      }
    }
  }
  return { operations, skipped };
}

function isRequested(
  filter: OpenApiSettings["operations"],
  path: string,
  id: string | undefined,
  body: JsonObject,
): boolean {
  if (filter === undefined) return true;
  const { ids, tags, pathPrefix } = filter;
  if (pathPrefix !== undefined && !path.startsWith(pathPrefix)) return false;
  if (ids !== undefined && (id === undefined || !ids.includes(id))) return false;
  const own = asList(body["tags"]);
  return tags === undefined || tags.some((tag) => own.includes(tag));
}
