import type { Problem } from "../problem.ts";
import type { SourceFile } from "../source/source-file.ts";
import type { CaseRow } from "./case-row.ts";
import { openCaseFile } from "./case-sources.ts";
import { readCases, type UnreadCases } from "./read-cases.ts";
import { getFolderOf, type SuiteFolder } from "./suite-folder.ts";

/** Where the problems of a suite's cases go. */
export type CaseContext = {
  readonly source: SourceFile;
  readonly folder: SuiteFolder;
  readonly problems: Problem[];
};

/**
 * Opens the cases that a suite file names or contains. Cases in the file itself are checked at once. If they cannot be used,
 * adds the problems and returns `undefined`.
 *
 * @param cases - The value of `cases`, which the schema of the suite file has accepted.
 */
export async function openSuiteCases(
  cases: unknown,
  { source, folder, problems }: CaseContext,
): Promise<UnreadCases | undefined> {
  if (typeof cases === "string") {
    const opened = openCaseFile(folder, cases);
    if ("source" in opened) return { source: opened.source, folder: getFolderOf(folder, cases), name: cases };
    const { message } = opened;
    problems.push(
      source.createProblem(["cases"], { kind: "invalid-field", severity: "error", message, found: cases }),
    );
    return undefined;
  }
  if (!Array.isArray(cases)) return undefined;
  const values: readonly unknown[] = cases;
  const inline: UnreadCases = { source: () => listInlineCases(values, source), folder, name: source.name };
  let isSound = true;
  for await (const result of readCases(inline)) {
    if (result.ok) continue;
    isSound = false;
    problems.push(...result.problems);
  }
  return isSound ? inline : undefined;
}

async function* listInlineCases(values: readonly unknown[], source: SourceFile): AsyncGenerator<CaseRow> {
  for (const [index, value] of values.entries()) {
    // The schema of the suite file has reported this one.
    if (value === undefined) continue;
    yield { value, createProblem: (path, about) => source.createProblem(["cases", index, ...path], about) };
  }
}
