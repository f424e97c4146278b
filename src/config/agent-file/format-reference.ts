import { formatExpected, getFileSchema, type JsonSchema } from "./json-schema.ts";

/** Between these lines of docs/agents.md. */
const REFERENCE_BEGIN = "<!-- reference: written by scripts/agent-schema.mjs -->";
const REFERENCE_END = "<!-- reference: end -->";

/** The reference of the format in Markdown: a table for each section. Sections that stand in several places, once. */
function formatReference(): string {
  const sections: string[] = [];
  const seen = new Map<string, string>();
  describeTable("", getFileSchema(), sections, seen);
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
    const members = getTableSchema(value.items);
    const table = members ?? getTableSchema(value);
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
    sections.push(`### \`${title}\``, [text, `As \`${before}\`.`].filter((part) => part !== "").join(" "));
    return;
  }
  seen.set(shape, title);
  sections.push(`### \`${title}\``, ...(text === "" ? [] : [text]));
  describeTable(path, table, sections, seen);
}

/** The table that a value is; a choice of forms is described in a row instead. */
function getTableSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  return schema?.properties === undefined ? undefined : schema;
}

function formatRow(key: string, schema: JsonSchema, isRequired: boolean): string {
  const defaultText =
    schema.default === undefined
      ? isRequired
        ? "must be there"
        : ""
      : `\`${JSON.stringify(schema.default)}\``;
  return `| \`${key}\` | ${formatCell(formatExpected(schema))} | ${formatCell(defaultText)} | ${formatCell(schema.description ?? "")} |`;
}

function formatCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

/** A page with the reference of today between its marks. */
export function insertReference(page: string): string {
  const begin = page.indexOf(REFERENCE_BEGIN);
  const end = page.indexOf(REFERENCE_END);
  if (begin < 0 || end < begin) throw new Error("The page has no marks for the reference");
  return `${page.slice(0, begin + REFERENCE_BEGIN.length)}\n\n${formatReference()}\n${page.slice(end)}`;
}
