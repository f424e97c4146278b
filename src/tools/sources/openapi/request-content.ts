import { randomUUID } from "node:crypto";
import { isObject, type JsonObject } from "../../../platform/text/json.ts";
import type { CallBody, FormField } from "./open-api-call.ts";
import { formatValue, isAbsent, type Pair, serialiseQueryParameter } from "./serialise.ts";

export type RequestContent = { readonly contentType: string; readonly text: string };

/** Serialises a body. */
export function serialiseBody(body: CallBody, value: unknown): RequestContent {
  switch (body.kind) {
    case "json":
      return { contentType: body.contentType, text: JSON.stringify(value) };
    case "form":
      return { contentType: body.contentType, text: serialiseForm(value, body.fields ?? {}) };
    case "multipart":
      return serialiseMultipart(value, body.fields ?? {});
    case "text":
      return {
        contentType: body.contentType.includes(";") ? body.contentType : `${body.contentType}; charset=utf-8`,
        text: formatValue(value),
      };
  }
}

function serialiseForm(value: unknown, fields: Readonly<Record<string, FormField>>): string {
  const pairs = listFields(value).flatMap(([name, member]) =>
    serialiseFormField(name, member, getField(fields, name)),
  );
  return pairs.map(([name, pairValue]) => `${name}=${pairValue}`).join("&");
}

function getField(fields: Readonly<Record<string, FormField>>, name: string): FormField {
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? {};
}

/** Serialises objects as JSON by default, and lists as one field for each member. */
function serialiseFormField(
  name: string,
  value: unknown,
  { style, explode, reserved }: FormField,
): readonly Pair[] {
  const serialisation = {
    style: style ?? "form",
    explode: explode ?? (style ?? "form") === "form",
    reserved,
  };
  const isSpecified = style !== undefined || explode !== undefined;
  return serialiseQueryParameter(
    name,
    isObject(value) && !isSpecified ? JSON.stringify(value) : value,
    serialisation,
  );
}

function serialiseMultipart(value: unknown, fields: Readonly<Record<string, FormField>>): RequestContent {
  const boundary = `holdfast-${randomUUID()}`;
  const parts = listFields(value).flatMap(([name, member]) =>
    (Array.isArray(member) ? member : [member]).map((one) =>
      serialisePart(name, one, getField(fields, name)),
    ),
  );
  const text = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
  return { contentType: `multipart/form-data; boundary=${boundary}`, text: `${text}--${boundary}--\r\n` };
}

function serialisePart(name: string, value: unknown, { file, contentType }: FormField): string {
  const label = quoteName(name);
  const own = contentType?.split(",")[0]?.trim();
  const byDefault = isObject(value)
    ? "application/json"
    : file === true
      ? "application/octet-stream"
      : undefined;
  const type = own === undefined || own.includes("*") ? byDefault : own;
  return [
    `Content-Disposition: form-data; name="${label}"${file === true ? `; filename="${label}"` : ""}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    "",
    formatValue(value),
  ].join("\r\n");
}

/** Quotes a name as browsers do. */
function quoteName(name: string): string {
  return name.replace(/"/g, "%22").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
}

function listFields(value: unknown): readonly (readonly [string, unknown])[] {
  const table: JsonObject = isObject(value) ? value : {};
  return Object.entries(table).filter(([, member]) => !isAbsent(member));
}
