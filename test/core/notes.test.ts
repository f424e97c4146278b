import { expect, test } from "vitest";
import { findNotesProblem } from "../../src/conversation/compaction/notes-check.ts";

const RECORD = [
  "user: Please find out why the nightly import of invoices fails since Tuesday and repair it.",
  'assistant: [calls bash {"command":"grep -rn ImportError /srv/billing/importer.py"}]',
  'result of bash: /srv/billing/importer.py:118: raise ImportError("column vat_number missing")',
  "assistant: The column was renamed in migration 0042; the importer still reads the former name.",
].join("\n\n");

test.each([
  ["", "stop", "have no text"],
  [" \n\t ", "stop", "have no text"],
  ["", "toolUse", "have no text"],
  ["The importer", "error", 'ended with "error"'],
  ["The importer reads", "length", "were cut off at the output limit"],
  ["The importer", "guardRail", "were refused by the vendor's filter"],
  ["I cannot help with that.", "stop", "refuse to summarize"],
  ["I can’t assist with this request.", "stop", "refuse to summarize"],
  ["I'm sorry, but I can't share the importer's details.", "stop", "refuse to summarize"],
  ["Unfortunately, I am unable to process the invoices.", "stop", "refuse to summarize"],
  ["As an AI language model, I do not read invoices.", "stop", "refuse to summarize"],
  ["Done.", "stop", "have 5 characters only"],
  [
    "Here goes some poem regarding lovely flowers",
    "stop",
    "do not repeat a single word of the text that they summarize",
  ],
] as const)(
  "notes that say nothing of the record are rejected: %j, %s [CMP-10.2]",
  (notes, stop, problem) => {
    expect(findNotesProblem(notes, stop, RECORD)).toBe(problem);
  },
);

test.each([
  "Asked: repair the nightly import. Found: importer.py:118 reads a column that migration 0042 renamed.",
  "用户要求修复发票导入。原因是第0042号迁移重命名了该列，导入程序仍然读取旧名称。",
  "La importación nocturna falla: importer.py busca vat_number, que la migración 0042 cambió.",
  `The user asked why the import fails. A first answer said "I cannot help with that". ${"More work. ".repeat(40)}`,
])("notes that summarize the record are accepted in any language: %s [CMP-10.2]", (notes) => {
  expect(findNotesProblem(notes, "stop", RECORD)).toBeUndefined();
});

test("any notes are accepted for a record of a few words [CMP-10.2]", () => {
  expect(findNotesProblem("a greeting", "stop", "user: hi")).toBeUndefined();
});
