import type { SuiteCase } from "../../schema/suite.ts";
import type { PlannedCell } from "../../store/transcript/suites.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

/** Reads the cases of some cells. */
export async function readCasesOf(
  run: string,
  cells: readonly PlannedCell[],
  { suites }: Pick<Transcript, "suites">,
): Promise<ReadonlyMap<number, SuiteCase>> {
  const numbers = cells.map(({ caseNumber }) => caseNumber);
  const found = await suites.readCasesByNumbers(run, numbers);
  return new Map(found.map(({ number, value }) => [number, value]));
}
