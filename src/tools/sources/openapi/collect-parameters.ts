import { asList, asText, getField, isObject, type JsonObject } from "../../../platform/text/json.ts";
import { type CallParameter, STYLES, type Style } from "./open-api-call.ts";
import type { References } from "./references.ts";
import type { ModelSchema, SchemaInliner } from "./schema-inliner.ts";

/** A parameter as the document declares it. */
export type DeclaredParameter = {
  readonly call: CallParameter;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: unknown;
};

export type CollectedParameters = {
  readonly parameters: readonly DeclaredParameter[];
  /** What was skipped, a few words each. */
  readonly notes: readonly string[];
};

type ParameterLocation = CallParameter["in"];
const STYLES_BY_LOCATION: Readonly<Record<ParameterLocation, readonly Style[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
};

/** Headers that the request or the connection sets. The model must not set them (OAS 3, Parameter Object). */
const RESERVED_HEADERS =
  /^(accept|content-type|authorization|proxy-.*|host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|cookie|set-cookie|via|forwarded|x-forwarded-.*|sec-.*|content-encoding|accept-encoding)$/i;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Collects the parameters of the path and of the operation. Those of the operation override those of the path (OAPI-06). */
export function collectParameters(
  path: string,
  lists: readonly unknown[],
  references: References,
  isTaken: (location: ParameterLocation, name: string) => boolean,
): CollectedParameters {
  const found = new Map<string, JsonObject>();
  const notes: string[] = [];
  for (const entry of lists.flatMap(asList)) {
    const parameter = references.follow(entry);
    const [location, name] = [asText(getField(parameter, "in")), asText(getField(parameter, "name"))];
    if (!isObject(parameter) || location === undefined || name === undefined || name === "") continue;
    found.set(`${location} ${name}`, parameter);
  }
  const inPath = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name as string);
  const parameters: DeclaredParameter[] = [];
  for (const parameter of found.values()) {
    const location = parameter["in"] as string;
    const name = parameter["name"] as string;
    // Cookies are ignored (OAPI-06).
    if (location !== "path" && location !== "query" && location !== "header") continue;
    if (location === "path" && !inPath.includes(name)) {
      notes.push(`its path does not contain the parameter ${name}`);
      continue;
    }
    if (location === "header" && (RESERVED_HEADERS.test(name) || !TOKEN.test(name))) continue;
    if (isTaken(location, name)) continue;
    parameters.push(toDeclaredParameter(parameter, location, name, references));
  }
  for (const name of new Set(inPath)) {
    if (parameters.some(({ call }) => call.in === "path" && call.name === name)) continue;
    parameters.push(
      toDeclaredParameter({ required: true, schema: { type: "string" } }, "path", name, references),
    );
  }
  return { parameters: assignKeys(parameters), notes };
}

function toDeclaredParameter(
  parameter: JsonObject,
  location: ParameterLocation,
  name: string,
  references: References,
): DeclaredParameter {
  const content = Object.entries(isObject(parameter["content"]) ? parameter["content"] : {});
  const json = content.find(([type]) => /[/+]json\b/i.test(type)) ?? content[0];
  const [first] = STYLES_BY_LOCATION[location];
  const style =
    STYLES_BY_LOCATION[location].find((known) => known === parameter["style"]) ?? (first as Style);
  const explode = parameter["explode"];
  return {
    call: {
      key: name,
      name,
      in: location,
      style,
      explode: typeof explode === "boolean" ? explode : style === "form" || style === "deepObject",
      ...(parameter["allowReserved"] === true && location === "query" ? { reserved: true as const } : {}),
      ...(json !== undefined && /[/+]json\b/i.test(json[0]) ? { json: true as const } : {}),
    },
    required: location === "path" || parameter["required"] === true,
    description: asText(parameter["description"]),
    schema: json === undefined ? parameter["schema"] : getField(references.follow(json[1]), "schema"),
  };
}

export function isStyle(value: unknown): value is Style {
  return STYLES.includes(value as Style);
}

/** Characters that a vendor rejects in keys. */
const INVALID_KEY_CHARS = /[^A-Za-z0-9_.-]/g;
const MAX_KEY_CHARS = 64;

export function createKey(name: string, taken: ReadonlySet<string>, prefix = ""): string {
  const clean = name.replace(INVALID_KEY_CHARS, "_").slice(0, MAX_KEY_CHARS) || "value";
  if (!taken.has(clean)) return clean;
  const prefixed = `${prefix}_${clean}`.slice(0, MAX_KEY_CHARS);
  if (prefix !== "" && !taken.has(prefixed)) return prefixed;
  for (let number = 2; ; number += 1) {
    const numbered = `${clean.slice(0, MAX_KEY_CHARS - 6)}_${number}`;
    if (!taken.has(numbered)) return numbered;
  }
}

function assignKeys(parameters: readonly DeclaredParameter[]): readonly DeclaredParameter[] {
  const taken = new Set<string>();
  return parameters.map((parameter) => {
    const key = createKey(parameter.call.name, taken, parameter.call.in);
    taken.add(key);
    return { ...parameter, call: { ...parameter.call, key } };
  });
}

/** Builds the schema for the model. The parameter's own description takes precedence over that of its schema. */
export function buildParameterSchema(
  { description, schema }: DeclaredParameter,
  inliner: SchemaInliner,
): ModelSchema {
  const inlined = inliner.inline(schema);
  return description === undefined ? inlined : { ...inlined, ...inliner.inline({ description }) };
}
