import { asText, getField, isObject } from "../../../platform/text/json.ts";
import { createKey, isStyle } from "./collect-parameters.ts";
import { type CallBody, FormField } from "./open-api-call.ts";
import type { References } from "./references.ts";
import type { SchemaInliner } from "./schema-inliner.ts";

/** A body as the document declares it. */
type DeclaredBody = {
  readonly call: CallBody;
  readonly required: boolean;
  readonly description: string | undefined;
  /** Absent: text. */
  readonly schema: unknown;
};

export type BodyDeclaration =
  | { readonly type: "none" }
  | { readonly type: "body"; readonly body: DeclaredBody }
  /** Holdfast cannot serialise any of its media types. */
  | { readonly type: "unknown"; readonly required: boolean; readonly types: readonly string[] };

/** The first one that matches is used. */
const MEDIA_KINDS: readonly (readonly [CallBody["kind"], RegExp, string?])[] = [
  ["json", /^application\/json$/],
  ["json", /^[^/]+\/([^/]+\+)?json$/],
  ["json", /^(application|\*)\/\*$/, "application/json"],
  ["form", /^application\/x-www-form-urlencoded$/],
  ["multipart", /^multipart\/form-data$/],
  ["text", /^text\/\*$/, "text/plain"],
  ["text", /^text\/|^application\/(.*\+)?(xml|yaml|x-yaml|javascript|graphql|x-ndjson|jsonl|sql)$/],
];

export function readBodyDeclaration(
  value: unknown,
  references: References,
  inliner: SchemaInliner,
  keys: ReadonlySet<string>,
): BodyDeclaration {
  const body = references.follow(value);
  if (!isObject(body)) return { type: "none" };
  const required = body["required"] === true;
  const content = Object.entries(isObject(body["content"]) ? body["content"] : {});
  if (content.length === 0) return { type: "none" };
  for (const [kind, pattern, instead] of MEDIA_KINDS) {
    const found = content.find(([type]) => pattern.test(stripParameters(type)));
    if (found === undefined) continue;
    const media = references.follow(found[1]);
    const schema = getField(media, "schema");
    const top = kind === "text" ? "string" : inliner.getTopType(schema);
    const fields = kind === "form" || kind === "multipart" ? toFormFields(media, references) : {};
    const call: CallBody = {
      key: keys.has("body") ? createKey("_request_body", keys) : "body",
      contentType: instead ?? found[0],
      kind,
      ...(top === "object" || top === "array" ? { structured: true as const } : {}),
      ...(Object.keys(fields).length === 0 ? {} : { fields }),
    };
    return { type: "body", body: { call, required, description: asText(body["description"]), schema } };
  }
  return { type: "unknown", required, types: content.map(([type]) => type) };
}

function stripParameters(type: string): string {
  return type.split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Returns how the fields of a form are serialised, if it differs from the default. */
function toFormFields(media: unknown, references: References): Record<string, FormField> {
  const fields: Record<string, FormField> = {};
  const schema = references.follow(getField(media, "schema"));
  const properties = getField(schema, "properties");
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const followed = references.follow(property);
    if (getField(followed, "format") === "binary") fields[name] = { file: true };
  }
  const encoding = getField(media, "encoding");
  for (const [name, entry] of Object.entries(isObject(encoding) ? encoding : {})) {
    if (!isObject(entry)) continue;
    const { style, explode, allowReserved, contentType } = entry;
    fields[name] = FormField.parse({
      ...fields[name],
      ...(isStyle(style) ? { style } : {}),
      ...(typeof explode === "boolean" ? { explode } : {}),
      ...(allowReserved === true ? { reserved: true } : {}),
      ...(typeof contentType === "string" && /^[\w.+*-]+\/[\w.+*-]+(;[\w =."-]*)?$/.test(contentType)
        ? { contentType }
        : {}),
    });
  }
  return fields;
}
