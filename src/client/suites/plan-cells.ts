import { getCellKind } from "../../core/suite/cell-kind.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { SuiteCase, SuiteConfiguration } from "../../schema/suite.ts";
import type { NumberedCase, PlannedCell, SuiteStore } from "../../store/transcript/suites.ts";
import { buildCellId, digestCase } from "./cell-id.ts";

/** Rows of one write. */
const PAGE_ROWS = 500;

export type PlannedConfiguration = {
  readonly definition: AgentDefinition;
  /** What the configuration adds to the ids of its cells. */
  readonly digest: string;
  readonly configuration: SuiteConfiguration;
};

/** How far the planning has come. */
export type PlanProgress = {
  /** The cases that are stored. */
  readonly cases: number;
  /** The cells that are stored. */
  readonly cells: number;
};

type PlanRequest = {
  readonly run: string;
  readonly cases: AsyncIterable<SuiteCase>;
  readonly configurations: readonly PlannedConfiguration[];
  readonly repetitions: number;
  readonly limit?: number | undefined;
};

type PlanOptions = {
  readonly onPlanning?: ((progress: PlanProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Stores the cases of a suite and their cells, page by page: no more of them is in memory. */
export async function planCells(
  { run, cases, configurations, repetitions, limit = Number.POSITIVE_INFINITY }: PlanRequest,
  store: Pick<SuiteStore, "addCases" | "addCells">,
  { onPlanning, signal }: PlanOptions,
): Promise<void> {
  const pageOfCases: NumberedCase[] = [];
  const pageOfCells: PlannedCell[] = [];
  let progress: PlanProgress = { cases: 0, cells: 0 };
  const write = async () => {
    await store.addCases(run, pageOfCases.splice(0));
    while (pageOfCells.length > 0) await store.addCells(run, pageOfCells.splice(0, PAGE_ROWS));
    onPlanning?.(progress);
  };
  for await (const value of cases) {
    if (progress.cases >= limit) break;
    signal?.throwIfAborted();
    const caseNumber = progress.cases;
    pageOfCases.push({ number: caseNumber, value });
    const digest = digestCase(value);
    let { cells } = progress;
    for (let repetition = 0; repetition < repetitions; repetition++) {
      for (const [index, one] of configurations.entries()) {
        const kind = getCellKind(one.configuration.kind, value);
        const cell = buildCellId(one.digest, digest, repetition);
        pageOfCells.push({ number: cells, caseNumber, configuration: index, repetition, cell, kind });
        cells += 1;
      }
    }
    progress = { cases: caseNumber + 1, cells };
    if (pageOfCases.length >= PAGE_ROWS || pageOfCells.length >= PAGE_ROWS) await write();
  }
  await write();
}
