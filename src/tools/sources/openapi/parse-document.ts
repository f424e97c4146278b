import { parseDocument as parseYaml } from "yaml";
import { isObject, type JsonObject } from "../../../platform/text/json.ts";
import type { OpenApiLimits } from "../../../schema/openapi.ts";
import { ToolSourceError } from "../tool-source.ts";

/** How often the aliases of a YAML document may be expanded, nested expansions multiplied. */
const MAX_ALIASES = 10_000;

/** Parses JSON if the text begins like JSON, otherwise YAML (OAPI-01). */
export function parseText(text: string, location: string): unknown {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const first = /\S/.exec(body)?.[0];
  if (first === undefined) throw new ToolSourceError(`The OpenAPI document ${location} is empty`);
  try {
    if (first === "{" || first === "[") return JSON.parse(body);
    const parsed = parseYaml(body, { merge: true, uniqueKeys: false, logLevel: "silent" });
    const [error] = parsed.errors;
    if (error !== undefined) throw error;
    return parsed.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    const reason = (error as Error).message.split("\n")[0]?.replace(/:$/, "");
    const format = first === "{" || first === "[" ? "JSON" : "YAML";
    throw new ToolSourceError(`The OpenAPI document ${location} is not valid ${format}: ${reason}`);
  }
}

export type OpenApiDocument = { readonly root: JsonObject; readonly warnings: readonly string[] };

/** Checks that the document has a supported version and is within its limits. */
export function checkDocument(value: unknown, location: string, limits: OpenApiLimits): OpenApiDocument {
  if (!isObject(value))
    throw new ToolSourceError(`The OpenAPI document ${location} is a list or a scalar, not an object`);
  checkBounds(value, location, limits);
  const version = value["openapi"];
  if (typeof version === "string" && /^3\.[01](\.|-|$)/.test(version)) return { root: value, warnings: [] };
  if (typeof version === "string" && /^3\.2(\.|-|$)/.test(version)) {
    return {
      root: value,
      warnings: [`${location} is OpenAPI ${version}: it is read as 3.1, and newer features are ignored`],
    };
  }
  const found =
    typeof version === "string"
      ? `OpenAPI ${version.slice(0, 20)}`
      : value["swagger"] !== undefined
        ? "Swagger 2.0"
        : "not an OpenAPI document: its key `openapi` is missing";
  throw new ToolSourceError(
    `${location} is ${found}; versions 3.0 and 3.1 are supported. Convert it, or specify another document`,
  );
}

/** Visits each value once, without recursion. Rejects a document that is too deep or has too many references. */
export function checkBounds(
  value: unknown,
  location: string,
  { maxDepth, maxReferences }: OpenApiLimits,
): void {
  const seen = new Set<object>();
  const open: { readonly value: object; readonly depth: number }[] = [];
  let references = 0;
  const visit = (inner: unknown, depth: number) => {
    if (typeof inner !== "object" || inner === null || seen.has(inner)) return;
    if (depth > maxDepth) {
      throw new ToolSourceError(
        `${location} has more than ${maxDepth} nested objects: it was not read; increase limits.maxDepth to allow it`,
      );
    }
    seen.add(inner);
    open.push({ value: inner, depth });
  };
  visit(value, 1);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof (next.value as JsonObject)["$ref"] === "string") references += 1;
    if (references > maxReferences) {
      throw new ToolSourceError(
        `${location} has more than ${maxReferences} references: it was not read; increase limits.maxReferences to allow it`,
      );
    }
    for (const inner of Object.values(next.value)) visit(inner, next.depth + 1);
  }
}
