/** A record of a CSV file. */
export type CsvRecord = {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
};

/** The text is not CSV. */
export class CsvError extends Error {
  override readonly name = "CsvError";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** A field without its closing quote would otherwise take the rest of the file. */
const MAX_FIELD_CHARS = 16 * 1024 * 1024;

/** Where the reader stands: at the start of a field, in one, or after a quote that may end it. */
type Position = "start" | "plain" | "quoted" | "quote";

/**
 * Reads CSV as RFC 4180 describes it, from text that arrives in chunks. Lines end with LF or CRLF; empty ones are ignored,
 * and so is a byte order mark. Holds one record at a time.
 */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  let position: Position = "start";
  let fields: string[] = [];
  let field = "";
  let wasQuoted = false;
  let line = 1;
  let recordLine = 1;
  let isFirst = true;

  const endField = (): void => {
    fields.push(field);
    field = "";
    position = "start";
  };
  /** @returns The record, unless its line is empty. */
  const endRecord = (): CsvRecord | undefined => {
    if (!wasQuoted && position !== "quote" && field.endsWith("\r")) field = field.slice(0, -1);
    endField();
    const record = { line: recordLine, fields };
    const isEmpty = fields.length === 1 && fields[0] === "" && !wasQuoted;
    fields = [];
    wasQuoted = false;
    recordLine = line;
    return isEmpty ? undefined : record;
  };

  for await (const chunk of chunks) {
    const text = isFirst && chunk.startsWith("\uFEFF") ? chunk.slice(1) : chunk;
    if (chunk !== "") isFirst = false;
    for (const character of text) {
      if (character === "\n") line += 1;
      if (position === "quoted") {
        if (character === '"') position = "quote";
        else field += character;
      } else if (character === '"' && position === "quote") {
        field += character;
        position = "quoted";
      } else if (character === '"' && position === "start") {
        wasQuoted = true;
        position = "quoted";
      } else if (character === ",") {
        endField();
        wasQuoted = false;
      } else if (character === "\n") {
        const record = endRecord();
        if (record !== undefined) yield record;
      } else if (position !== "quote") {
        field += character;
        position = "plain";
      } else if (character !== "\r") {
        throw new CsvError(line, 'text after a closing quote: write a quote within a field as ""');
      }
      if (field.length > MAX_FIELD_CHARS)
        throw new CsvError(recordLine, "a field is too long: is its closing quote missing?");
    }
  }
  if (position === ("quoted" as Position))
    throw new CsvError(recordLine, "the closing quote of a field is missing");
  if (field !== "" || fields.length > 0 || wasQuoted) {
    const record = endRecord();
    if (record !== undefined) yield record;
  }
}
