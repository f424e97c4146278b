import type { SuiteCase } from "../../schema/suite.ts";
import type { PlannedCell } from "../../store/transcript/suites.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

const PAGE_CASES = 250;

/** Reads the cases of some cells, which follow each other or nearly do. */
export async function readCasesOf(
  run: string,
  cells: readonly PlannedCell[],
  { suites }: Pick<Transcript, "suites">,
): Promise<ReadonlyMap<number, SuiteCase>> {
  const wanted = [...new Set(cells.map(({ caseNumber }) => caseNumber))].sort((a, b) => a - b);
  const found = new Map<number, SuiteCase>();
  for (const number of wanted) {
    if (found.has(number)) continue;
    for (const one of await suites.readCases(run, number, PAGE_CASES)) found.set(one.number, one.value);
  }
  return found;
}
