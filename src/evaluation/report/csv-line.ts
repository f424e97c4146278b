export type CsvField = string | number | boolean | null | undefined;

/** A field that must be quoted: it contains a separator, a quote or a line break. */
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * Returns a line of a CSV file (RFC 4180), with its line break (CRLF). Missing fields are empty.
 *
 * A line of one empty field is quoted, because readers skip empty lines.
 */
export function toCsvLine(fields: readonly CsvField[]): string {
  const texts = fields.map(quoteField);
  return `${texts.length === 1 && texts[0] === "" ? '""' : texts.join(",")}\r\n`;
}

function quoteField(field: CsvField): string {
  const text = String(field ?? "");
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
