import { toNanoUsd } from "../../core/budget/amounts.ts";
import { BUDGET_CLASS, type TakeCellsInput, type TakenCells } from "../../core/suite/suite-parts.ts";
import { MAX_LANES } from "../../core/suite/suite-progress.ts";
import type { CellKind } from "../../schema/suite.ts";
import type { CellCounts, PlannedCell, SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";
import { readSuiteRun } from "./suite-run.ts";

/**
 * The most cells of a part. A part of runs of their own has some 4 KB of history for each; a history of 2,000 events is
 * read quickly when a worker takes over.
 */
const MAX_CELLS: Record<CellKind, number> = { answer: 1000, agent: 100 };

/** Takes the next pending cells for a part: those of one kind. */
export async function takeCells(
  { run, after }: TakeCellsInput,
  { transcript }: Pick<Dependencies, "transcript">,
): Promise<TakenCells> {
  try {
    const record = await readSuiteRun(run, transcript);
    const { suites } = transcript;
    const counts = await suites.countCells(run);
    const pending = await suites.readPending(run, after, MAX_CELLS.answer);
    const cells = selectPart(pending, counts);
    const last = cells.at(-1);
    const tooMany = findTooManyFailures(record, counts);
    return {
      control: record.control,
      spentNanoUsd: toNanoUsd(counts.paidUsd),
      counts: { pending: counts.pending, finished: counts.finished, failed: counts.failed },
      ...(last === undefined
        ? {}
        : { range: { kind: last.kind, after, to: last.number, cells: cells.length } }),
      ...(tooMany === undefined ? {} : { tooMany }),
    };
  } catch (error) {
    throw toFailure(error);
  }
}

/**
 * Selects cells so that what is pending is divided among as many parts as ever work side by side: a higher concurrency
 * begins further ones. Cells of the other kind between them stay pending: the suite takes them when it begins at its first
 * cell again.
 */
function selectPart(pending: readonly PlannedCell[], counts: CellCounts): readonly PlannedCell[] {
  const kind = pending[0]?.kind;
  if (kind === undefined) return [];
  const share = Math.ceil(counts.pending / MAX_LANES);
  const size = Math.max(1, Math.min(MAX_CELLS[kind], share));
  return pending.filter((cell) => cell.kind === kind).slice(0, size);
}

function findTooManyFailures(
  { plan }: SuiteRunRecord,
  { failures }: CellCounts,
): TakenCells["tooMany"] | undefined {
  const { stopAfterFailures } = plan;
  if (stopAfterFailures === null) return undefined;
  const found = Object.entries(failures).find(
    ([kind, count]) => kind !== BUDGET_CLASS && count >= stopAfterFailures,
  );
  return found === undefined ? undefined : { class: found[0], failures: found[1] };
}
