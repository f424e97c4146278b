import { Document, visit } from "yaml";
import { isObject, type JsonObject } from "../../platform/text/json.ts";

// Writes a table of plain values as text. TOML has no null; a table that is written as TOML must not contain one.

export function writeJson(table: JsonObject): string {
  return `${JSON.stringify(table, undefined, 2)}\n`;
}

/** Text that a YAML block may not preserve: blanks at the edges of a line, and more than one line break at the end. */
const BLANK_EDGES = /^\s|[^\S\n](?:\n|$)|\n[^\S\n]*\n$/;

export function writeYaml(table: JsonObject): string {
  const document = new Document(table, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && BLANK_EDGES.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}

export function writeToml(table: JsonObject): string {
  return `${formatSection([], table).join("\n").trim()}\n`;
}

/** Formats a section. Values precede tables: everything below a header belongs to its table. */
function formatSection(path: readonly string[], table: JsonObject): readonly string[] {
  const entries = Object.entries(table).filter(([, value]) => value !== undefined);
  const isBelow = ([, value]: readonly [string, unknown]) => isObject(value) || isTables(value);
  const ownEntries = entries
    .filter((entry) => !isBelow(entry))
    .map(([key, value]) => `${formatKey(key)} = ${formatInline(value)}`);
  const below = entries.filter(isBelow).flatMap(([key, value]) => {
    const fullPath = [...path, key];
    const header = fullPath.map(formatKey).join(".");
    if (isObject(value)) {
      const lines = formatSection(fullPath, value);
      const needsHeader = lines.length === 0 || !lines[0]!.startsWith("\n[");
      return needsHeader ? [`\n[${header}]`, ...lines] : lines;
    }
    return (value as readonly JsonObject[]).flatMap((member) => [
      `\n[[${header}]]`,
      ...formatSection(fullPath, member),
    ]);
  });
  return [...ownEntries, ...below];
}

function isTables(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

function formatInline(value: unknown): string {
  if (typeof value === "string") return value.includes("\n") ? formatMultiline(value) : formatText(value);
  if (Array.isArray(value)) return `[${value.map(formatMember).join(", ")}]`;
  if (isObject(value)) {
    const entries = Object.entries(value).map(([key, inner]) => `${formatKey(key)} = ${formatMember(inner)}`);
    return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
  }
  if (value === null) throw new TypeError("TOML has no null");
  return String(value);
}

function formatMember(value: unknown): string {
  return typeof value === "string" ? formatText(value) : formatInline(value);
}

/** Formats a string. TOML uses JSON's escapes, and requires one more control character to be escaped. */
function formatText(value: string): string {
  return JSON.stringify(value).replaceAll("\u007f", "\\u007F");
}

function formatMultiline(value: string): string {
  const lines = value.split("\n").map((line) => formatText(line).slice(1, -1));
  return `"""\n${lines.join("\n")}"""`;
}

function formatKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : formatText(key);
}
