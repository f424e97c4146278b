import { type CallParameter, STYLES, type Style } from "./call.ts";
import { at, isObject, type JsonObject, listOf, textOf } from "./json.ts";
import type { Inliner, ModelSchema } from "./model-schema.ts";
import type { References } from "./references.ts";

/** A parameter as the document has it. */
export type DeclaredParameter = {
  readonly call: CallParameter;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: unknown;
};

export type Declared = {
  readonly parameters: readonly DeclaredParameter[];
  /** What was left out, a few words each. */
  readonly notes: readonly string[];
};

type Place = CallParameter["in"];
const STYLES_OF: Readonly<Record<Place, readonly Style[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
};

/** Said by the request itself, or by the connection: none of the model's to say (OAS 3, Parameter Object). */
const OWN_HEADERS =
  /^(accept|content-type|authorization|proxy-.*|host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|cookie|set-cookie|via|forwarded|x-forwarded-.*|sec-.*|content-encoding|accept-encoding)$/i;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Those of the path, and of the operation in place of those of the same name (OAPI-06). */
export function declaredParameters(
  path: string,
  lists: readonly unknown[],
  references: References,
  taken: (place: Place, name: string) => boolean,
): Declared {
  const found = new Map<string, JsonObject>();
  const notes: string[] = [];
  for (const entry of lists.flatMap(listOf)) {
    const parameter = references.follow(entry);
    const [place, name] = [textOf(at(parameter, "in")), textOf(at(parameter, "name"))];
    if (!isObject(parameter) || place === undefined || name === undefined || name === "") continue;
    found.set(`${place} ${name}`, parameter);
  }
  const inPath = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name as string);
  const parameters: DeclaredParameter[] = [];
  for (const parameter of found.values()) {
    const place = parameter["in"] as string;
    const name = parameter["name"] as string;
    // Cookies are passed over (OAPI-06).
    if (place !== "path" && place !== "query" && place !== "header") continue;
    if (place === "path" && !inPath.includes(name)) {
      notes.push(`its path has no place for the parameter ${name}`);
      continue;
    }
    if (place === "header" && (OWN_HEADERS.test(name) || !TOKEN.test(name))) continue;
    if (taken(place, name)) continue;
    parameters.push(declared(parameter, place, name, references));
  }
  for (const name of new Set(inPath)) {
    if (parameters.some(({ call }) => call.in === "path" && call.name === name)) continue;
    parameters.push(declared({ required: true, schema: { type: "string" } }, "path", name, references));
  }
  return { parameters: named(parameters), notes };
}

function declared(
  parameter: JsonObject,
  place: Place,
  name: string,
  references: References,
): DeclaredParameter {
  const content = Object.entries(isObject(parameter["content"]) ? parameter["content"] : {});
  const json = content.find(([type]) => /[/+]json\b/i.test(type)) ?? content[0];
  const [first] = STYLES_OF[place];
  const style = STYLES_OF[place].find((known) => known === parameter["style"]) ?? (first as Style);
  const explode = parameter["explode"];
  return {
    call: {
      key: name,
      name,
      in: place,
      style,
      explode: typeof explode === "boolean" ? explode : style === "form" || style === "deepObject",
      ...(parameter["allowReserved"] === true && place === "query" ? { reserved: true as const } : {}),
      ...(json !== undefined && /[/+]json\b/i.test(json[0]) ? { json: true as const } : {}),
    },
    required: place === "path" || parameter["required"] === true,
    description: textOf(parameter["description"]),
    schema: json === undefined ? parameter["schema"] : at(references.follow(json[1]), "schema"),
  };
}

export function isStyle(value: unknown): value is Style {
  return STYLES.includes(value as Style);
}

/** Keys that every vendor takes, each of its own. */
const UNFIT = /[^A-Za-z0-9_.-]/g;
const MAX_KEY = 64;

export function fittingKey(name: string, taken: ReadonlySet<string>, place = ""): string {
  const clean = name.replace(UNFIT, "_").slice(0, MAX_KEY) || "value";
  if (!taken.has(clean)) return clean;
  const placed = `${place}_${clean}`.slice(0, MAX_KEY);
  if (place !== "" && !taken.has(placed)) return placed;
  for (let number = 2; ; number += 1) {
    const numbered = `${clean.slice(0, MAX_KEY - 6)}_${number}`;
    if (!taken.has(numbered)) return numbered;
  }
}

function named(parameters: readonly DeclaredParameter[]): readonly DeclaredParameter[] {
  const taken = new Set<string>();
  return parameters.map((parameter) => {
    const key = fittingKey(parameter.call.name, taken, parameter.call.in);
    taken.add(key);
    return { ...parameter, call: { ...parameter.call, key } };
  });
}

/** For the model; the parameter's own words go before those of its schema. */
export function parameterSchema({ description, schema }: DeclaredParameter, inliner: Inliner): ModelSchema {
  const made = inliner.schema(schema);
  return description === undefined ? made : { ...made, ...inliner.schema({ description }) };
}
