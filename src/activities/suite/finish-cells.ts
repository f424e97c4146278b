import { Context } from "@temporalio/activity";
import type { FinishCellsInput, FinishedCells } from "../../core/suite/suite-parts.ts";
import type { PlannedCell } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { CellResults } from "./cell-results.ts";
import { isRunning } from "./cell-workflow.ts";
import { readCasesOf } from "./read-cases.ts";
import { readSuiteRun } from "./suite-run.ts";

/** Cells that are scored side by side: most scorers compute, and commands and judges wait. */
const SIDE_BY_SIDE = 4;

/** Reads the records of cells whose runs have ended, scores them and stores their results. */
export function finishCells(input: FinishCellsInput, dependencies: Dependencies): Promise<FinishedCells> {
  return withHeartbeat(
    () => undefined,
    () =>
      finish(input, dependencies).catch((error: unknown) => {
        throw toFailure(error);
      }),
  );
}

async function finish({ run, cells }: FinishCellsInput, dependencies: Dependencies): Promise<FinishedCells> {
  const { transcript } = dependencies;
  const record = await readSuiteRun(run, transcript);
  const planned = new Map<number, PlannedCell>();
  for (const { number } of cells) {
    const [row] = await transcript.suites.readCells(run, { after: number - 1, limit: 1 });
    if (row?.number === number && row.state === "pending") planned.set(number, row);
  }
  const cases = await readCasesOf(run, [...planned.values()], transcript);
  const results = new CellResults(record, dependencies, Context.current().cancellationSignal);
  let finished = cells.length - planned.size;
  let gone = 0;
  const left = cells.filter(({ number }) => planned.has(number));
  const lanes = Array.from({ length: SIDE_BY_SIDE }, async () => {
    for (let ended = left.shift(); ended !== undefined; ended = left.shift()) {
      const cell = planned.get(ended.number)!;
      const value = cases.get(cell.caseNumber)!;
      const isOpen = ended.isJoined === true && (await isRunning(ended.session));
      if (await results.finish(cell, value, { ...ended, isOpen })) finished += 1;
      else if (ended.isJoined === true && !isOpen) gone += 1;
    }
  });
  await Promise.all(lanes);
  return { cells: finished, left: gone };
}
