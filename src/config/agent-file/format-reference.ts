import { formatExpected, getFileSchema, type JsonSchema } from "./json-schema.ts";

/** The lines of docs/agents.md that enclose the reference. */
const REFERENCE_BEGIN = "<!-- reference: written by scripts/agent-schema.mjs -->";
const REFERENCE_END = "<!-- reference: end -->";

/** Formats the reference in Markdown: a table for each section. A section that is allowed in several places appears once. */
function formatReference(schema: JsonSchema): string {
  const sections: string[] = [];
  const seen = new Map<string, string>();
  describeTable("", schema, sections, seen);
  return `${sections.join("\n\n")}\n`;
}

function describeTable(
  header: string,
  schema: JsonSchema,
  sections: string[],
  seen: Map<string, string>,
): void {
  const rows: string[] = [];
  const below: (() => void)[] = [];
  for (const [key, value] of Object.entries(schema.properties ?? {})) {
    const isRequired = schema.required?.includes(key) === true;
    const path = header === "" ? key : `${header}.${key}`;
    const forms = value.items?.oneOf;
    if (forms !== undefined) {
      below.push(() => describeForms(path, value, forms, sections));
      continue;
    }
    const choice =
      header === "" ? value.anyOf?.find(({ items }) => getTableSchema(items) !== undefined) : undefined;
    if (choice !== undefined) rows.push(formatRow(key, value, isRequired));
    const members = getTableSchema(choice?.items ?? value.items);
    const table = members ?? getTableSchema(value) ?? (header === "" ? getTableChoice(value) : undefined);
    if (table === undefined) rows.push(formatRow(key, value, isRequired));
    else
      below.push(() =>
        formatHeading(path, { table, isList: members !== undefined, about: value }, sections, seen),
      );
  }
  if (rows.length > 0) {
    sections.push(
      ["| key | value | by default | meaning |", "| --- | --- | --- | --- |", ...rows].join("\n"),
    );
  }
  if (typeof schema.additionalProperties === "object" && rows.length > 0) {
    sections.push(`Any other key: ${formatExpected(schema.additionalProperties)}.`);
  }
  for (const work of below) work();
}

/** Describes the tables of a list, which their key `type` tells apart. */
function describeForms(
  path: string,
  { description = "" }: JsonSchema,
  forms: readonly JsonSchema[],
  sections: string[],
): void {
  sections.push(`### \`[[${path}]]\``, description);
  for (const { properties: { type, ...properties } = {}, required } of forms) {
    const form = { properties, required: required ?? [] };
    sections.push(`#### \`type = ${JSON.stringify(type?.const)}\``, type?.description ?? "");
    describeTable(path, form, sections, new Map());
  }
}

type Heading = { readonly table: JsonSchema; readonly isList: boolean; readonly about: JsonSchema };

function formatHeading(
  path: string,
  { table, isList, about }: Heading,
  sections: string[],
  seen: Map<string, string>,
): void {
  const title = isList ? `[[${path}]]` : `[${path}]`;
  const shape = JSON.stringify(table);
  const before = seen.get(shape);
  const text = about.description ?? "";
  if (before !== undefined) {
    sections.push(
      `### \`${title}\``,
      [text, `Same keys as \`${before}\`.`].filter((part) => part !== "").join(" "),
    );
    return;
  }
  seen.set(shape, title);
  sections.push(`### \`${title}\``, ...(text === "" ? [] : [text]));
  describeTable(path, table, sections, seen);
}

/** Returns the schema of a table. A choice of several forms is described in a row instead. */
function getTableSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  return schema?.properties === undefined ? undefined : schema;
}

/** Returns the table of a section that may also be a single value. */
function getTableChoice({ anyOf = [] }: JsonSchema): JsonSchema | undefined {
  return anyOf.find((choice) => choice.properties !== undefined);
}

function formatRow(key: string, schema: JsonSchema, isRequired: boolean): string {
  const defaultText =
    schema.default === undefined ? (isRequired ? "required" : "") : `\`${JSON.stringify(schema.default)}\``;
  return `| \`${key}\` | ${formatCell(formatExpected(schema))} | ${formatCell(defaultText)} | ${formatCell(schema.description ?? "")} |`;
}

function formatCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

/** Inserts the current reference between the marks of a page. @param schema - That of agent files by default. */
export function insertReference(page: string, schema: JsonSchema = getFileSchema()): string {
  const begin = page.indexOf(REFERENCE_BEGIN);
  const end = page.indexOf(REFERENCE_END);
  if (begin < 0 || end < begin) throw new Error("The page does not contain the marks around the reference");
  return `${page.slice(0, begin + REFERENCE_BEGIN.length)}\n\n${formatReference(schema)}\n${page.slice(end)}`;
}
