import { createReadStream } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type CaseRow, type CaseSource, createJsonRow, createPlainRow } from "./case-row.ts";
import { CsvError, type CsvRecord, readCsv } from "./read-csv.ts";
import { readLines } from "./read-lines.ts";
import { displayPath, explainForbiddenPath, explainMissingFile, type SuiteFolder } from "./suite-folder.ts";

// The sources of cases. Each reads its cases one by one, so that their number is not limited by memory.

const MODULES = [".mjs", ".js", ".cjs"];

/** Opens a file of cases, or explains why it cannot be used. */
export function openCaseFile(
  folder: SuiteFolder,
  path: string,
): { readonly source: CaseSource } | { readonly message: string } {
  const forbidden = explainForbiddenPath(folder, path);
  if (forbidden !== undefined) return { message: forbidden };
  const file = displayPath(folder, path);
  const location = resolve(folder.path, path);
  const extension = extname(path).toLowerCase();
  const isModule = MODULES.includes(extension);
  if (isModule && folder.untrusted) {
    return {
      message: `${file} is a program, which an untrusted suite must not run: write the cases as .jsonl`,
    };
  }
  if (!isModule && ![".jsonl", ".ndjson", ".csv"].includes(extension)) {
    const hint = extension === ".json" ? ": write one case a line, and name the file .jsonl" : "";
    return { message: `${file} has none of the extensions .jsonl, .csv, .mjs, .js and .cjs${hint}` };
  }
  const missing = explainMissingFile(location);
  if (missing !== undefined) return { message: `${file} cannot be read: ${missing}` };
  if (isModule) return { source: () => readModule(file, location) };
  return {
    source: () => (extension === ".csv" ? readCsvRows(file, location) : readJsonRows(file, location)),
  };
}

function openText(location: string): AsyncIterable<string> {
  return createReadStream(location, { encoding: "utf8" });
}

async function* readJsonRows(file: string, location: string): AsyncGenerator<CaseRow> {
  try {
    for await (const { line, text } of readLines(openText(location))) {
      if (text.trim() !== "") yield createJsonRow(file, line, text);
    }
  } catch (error) {
    yield createReadProblem(file, error);
  }
}

function createReadProblem(file: string, error: unknown): CaseRow {
  const message = `it cannot be read: ${(error as Error).message}`;
  return { problem: { kind: "io", severity: "error", file, message } };
}

async function* readCsvRows(file: string, location: string): AsyncGenerator<CaseRow> {
  let header: readonly string[] | undefined;
  try {
    for await (const record of readCsv(openText(location))) {
      if (header !== undefined) {
        yield toCsvRow(file, header, record);
        continue;
      }
      header = record.fields.map((name) => name.trim());
      const message = explainHeader(header);
      if (message !== undefined) return yield createCsvProblem(file, record.line, message);
    }
    if (header === undefined)
      yield createCsvProblem(file, 1, "the file is empty: its first line names its columns");
  } catch (error) {
    yield error instanceof CsvError
      ? createCsvProblem(file, error.line, error.message)
      : createReadProblem(file, error);
  }
}

function createCsvProblem(file: string, line: number, message: string): CaseRow {
  return { problem: { kind: "parse", severity: "error", file, line, column: 1, message } };
}

function explainHeader(header: readonly string[]): string | undefined {
  const twice = header.find((name, index) => header.indexOf(name) !== index);
  if (twice !== undefined) return `the column "${twice}" stands twice`;
  if (header.includes("input")) return undefined;
  const hint = header.length === 1 && /[;\t]/.test(header[0]!) ? ": separate the columns with commas" : "";
  return `the first line must name a column "input"; it names ${header.join(", ")}${hint}`;
}

const OWN_COLUMNS = ["id", "input", "expected"];

/** Converts a record: columns without a meaning are metadata, and an empty field is absent. */
function toCsvRow(file: string, header: readonly string[], { line, fields }: CsvRecord): CaseRow {
  if (fields.length !== header.length) {
    const message = `this record has ${fields.length} fields, and the first line names ${header.length} columns`;
    return createCsvProblem(file, line, message);
  }
  const pairs = header
    .map((name, index) => [name, fields[index]!] as const)
    .filter(([, text]) => text !== "");
  const metadata = pairs.filter(([name]) => !OWN_COLUMNS.includes(name));
  const value = {
    ...Object.fromEntries(pairs.filter(([name]) => OWN_COLUMNS.includes(name))),
    ...(metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) }),
  };
  return createPlainRow(file, value, { line });
}

async function* readModule(file: string, location: string): AsyncGenerator<CaseRow> {
  let exported: unknown;
  try {
    exported = ((await import(pathToFileURL(location).href)) as { readonly default?: unknown }).default;
  } catch (error) {
    const message = `it cannot be imported: ${(error as Error).message}`;
    return yield { problem: { kind: "io", severity: "error", file, message } };
  }
  yield* readValues(file, exported);
}

/** Iterators that have begun: another reading would find nothing left. */
const begun = new WeakSet<object>();

/**
 * Reads cases from a value of code: an array, an iterable, an async iterable, or a function that returns one.
 *
 * @param name - What problems call the value.
 */
export async function* readValues(name: string, cases: unknown): AsyncGenerator<CaseRow> {
  const createProblem = (message: string): CaseRow => ({
    problem: { kind: "invalid-field", severity: "error", file: name, message },
  });
  let index = 0;
  try {
    const values: unknown = typeof cases === "function" ? await cases() : await cases;
    if (!isIterable(values)) {
      return yield createProblem("the cases must be an array, an iterable, or a function that returns one");
    }
    if (begun.has(values)) {
      return yield createProblem(
        "the cases were read before, and an iterator can be read once: give a function that returns them",
      );
    }
    if (isIterator(values)) begun.add(values);
    for await (const value of values) {
      yield createPlainRow(name, value, { index });
      index += 1;
    }
  } catch (error) {
    yield createProblem(`case ${index + 1} cannot be read: ${(error as Error).message}`);
  }
}

type AnyIterable = (Iterable<unknown> | AsyncIterable<unknown>) & object;

function isIterable(value: unknown): value is AnyIterable {
  return (
    typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

function isIterator(value: object): boolean {
  return typeof (value as { readonly next?: unknown }).next === "function";
}
