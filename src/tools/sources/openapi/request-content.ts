import { randomUUID } from "node:crypto";
import type { CallBody, FormField } from "./call.ts";
import { isObject, type JsonObject } from "./json.ts";
import { isAbsent, type Pair, queryPairs, wordOf } from "./serialise.ts";

export type Content = { readonly contentType: string; readonly text: string };

/** A body as it is sent. */
export function contentOf(body: CallBody, value: unknown): Content {
  switch (body.kind) {
    case "json":
      return { contentType: body.contentType, text: JSON.stringify(value) };
    case "form":
      return { contentType: body.contentType, text: formText(value, body.fields ?? {}) };
    case "multipart":
      return multipart(value, body.fields ?? {});
    case "text":
      return {
        contentType: body.contentType.includes(";") ? body.contentType : `${body.contentType}; charset=utf-8`,
        text: wordOf(value),
      };
  }
}

function formText(value: unknown, fields: Readonly<Record<string, FormField>>): string {
  const pairs = fieldsOf(value).flatMap(([name, member]) => formPairs(name, member, fieldOf(fields, name)));
  return pairs.map(([name, word]) => `${name}=${word}`).join("&");
}

function fieldOf(fields: Readonly<Record<string, FormField>>, name: string): FormField {
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? {};
}

/** Tables go as JSON where nothing else is said, lists as a field for each member. */
function formPairs(name: string, value: unknown, { style, explode, reserved }: FormField): readonly Pair[] {
  const manner = { style: style ?? "form", explode: explode ?? (style ?? "form") === "form", reserved };
  const isSaid = style !== undefined || explode !== undefined;
  return queryPairs(name, isObject(value) && !isSaid ? JSON.stringify(value) : value, manner);
}

function multipart(value: unknown, fields: Readonly<Record<string, FormField>>): Content {
  const boundary = `holdfast-${randomUUID()}`;
  const parts = fieldsOf(value).flatMap(([name, member]) =>
    (Array.isArray(member) ? member : [member]).map((one) => partOf(name, one, fieldOf(fields, name))),
  );
  const text = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
  return { contentType: `multipart/form-data; boundary=${boundary}`, text: `${text}--${boundary}--\r\n` };
}

function partOf(name: string, value: unknown, { file, contentType }: FormField): string {
  const label = inQuotes(name);
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
    wordOf(value),
  ].join("\r\n");
}

/** As browsers write it. */
function inQuotes(name: string): string {
  return name.replace(/"/g, "%22").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
}

function fieldsOf(value: unknown): readonly (readonly [string, unknown])[] {
  const table: JsonObject = isObject(value) ? value : {};
  return Object.entries(table).filter(([, member]) => !isAbsent(member));
}
