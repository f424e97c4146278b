import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type CsvRecord, readCsv } from "../../../src/config/suite-file/read-csv.ts";

async function* cut(text: string, sizes: readonly number[]) {
  let at = 0;
  for (const size of sizes) {
    yield text.slice(at, at + size);
    at += size;
  }
  yield text.slice(at);
}

async function parse(text: string, sizes: readonly number[] = []): Promise<readonly CsvRecord[]> {
  const records: CsvRecord[] = [];
  for await (const record of readCsv(cut(text, sizes))) records.push(record);
  return records;
}

const fields = async (text: string) => (await parse(text)).map((record) => record.fields);

const quote = (field: string, always: boolean) =>
  always || field === "" || /[",\r\n\uFEFF]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;

const Field = fc.oneof(fc.string(), fc.stringMatching(/^[ab", \r\n]{0,8}$/));

test("what is written as CSV is read again, however it is quoted, cut into chunks, and ended", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(Field, { minLength: 1, maxLength: 4 }), { maxLength: 5 }),
      fc.boolean(),
      fc.constantFrom("\n", "\r\n"),
      fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 20 }),
      fc.boolean(),
      fc.boolean(),
      async (table, always, ending, sizes, mark, ended) => {
        const text = table.map((row) => row.map((field) => quote(field, always)).join(",")).join(ending);
        const whole = `${mark ? "\uFEFF" : ""}${text}${ended ? ending : ""}`;
        expect((await parse(whole, sizes)).map((record) => record.fields)).toEqual(table);
      },
    ),
  );
});

test("a record has the line on which it begins, also after line breaks within quotes", async () => {
  expect(await parse('a,b\r\n"1\r\n2",x\r\n\r\ny,z')).toEqual([
    { line: 1, fields: ["a", "b"] },
    { line: 2, fields: ["1\r\n2", "x"] },
    { line: 5, fields: ["y", "z"] },
  ]);
});

test("empty lines are ignored, and empty fields are not", async () => {
  expect(await fields('a\n\n""\n,\n')).toEqual([["a"], [""], ["", ""]]);
});

test("a quote in the middle of a field is a character", async () => {
  expect(await fields('5" pipe,x')).toEqual([['5" pipe', "x"]]);
});

test.each([
  ['a\n"b" c\n', 2, 'text after a closing quote: write a quote within a field as ""'],
  ['a\nb\n"c\nd\ne', 3, "the closing quote of a field is missing"],
])("%j is an error on line %i", async (text, line, message) => {
  await expect(parse(text)).rejects.toMatchObject({ line, message });
});
