import { expect, test } from "vitest";
import { DocumentNames } from "../../src/models/bedrock-converse/document-names.ts";

function nameAll(...files: readonly string[]): readonly string[] {
  const names = new DocumentNames();
  return files.map((file) => names.next(file));
}

test("documents have different names in a request, whatever their case", () => {
  expect(nameAll("Report.pdf", "Report.pdf", "report.PDF", "REPORT (2).pdf")).toEqual([
    "Report",
    "Report (2)",
    "report (3)",
    "REPORT (2) (2)",
  ]);
  const long = nameAll(`${"A".repeat(300)}.pdf`, `${"A".repeat(300)}.pdf`);
  expect(long.map(({ length }) => length)).toEqual([200, 200]);
  expect(new Set(long).size).toBe(2);
});

test("a document's name has only what the API accepts", () => {
  expect(nameAll("Q3_results & more…v2.final.pdf", ".pdf", "été.pdf")).toEqual([
    "Q3 results more v2 final",
    "document",
    "t",
  ]);
});
