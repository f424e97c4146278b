import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { CellRow, CellState, SuiteStore } from "../../store/transcript/suites.ts";

const PAGE_CELLS = 500;

export type CellFilter = {
  /** The index of the configuration. */
  readonly configuration?: number | undefined;
  readonly state?: CellState | undefined;
  readonly caseNumber?: number | undefined;
  /** Only cells with a higher number. */
  readonly after?: number | undefined;
};

/** Yields the cells of a run in their order. No more than a page of them is in memory. */
export async function* readCellRows(
  suites: Pick<SuiteStore, "readCells">,
  run: string,
  { after: start = -1, ...filter }: CellFilter = {},
): AsyncGenerator<CellRow, void, void> {
  for (let after = start; ; ) {
    const page = await suites.readCells(run, { after, limit: PAGE_CELLS, ...omitUndefined({ ...filter }) });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_CELLS) return;
    after = last.number;
  }
}
