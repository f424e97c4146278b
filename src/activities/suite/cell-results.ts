import { toUsd } from "../../core/budget/amounts.ts";
import { addUsage, NO_USAGE } from "../../core/budget/usage.ts";
import type { EndedCell } from "../../core/suite/suite-parts.ts";
import type { Outcome } from "../../schema/record.ts";
import type { SuiteCase } from "../../schema/suite.ts";
import type { CellResult, PlannedCell, SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { inspectChild } from "../job/inspect-child.ts";
import { buildFailedResult, isOutside } from "./cell-failure.ts";
import { readCellRecord } from "./cell-record.ts";
import { CellScoring } from "./cell-scoring.ts";
import { removeCellWorkspace } from "./cell-workspace.ts";

/** Results of cells that had a run of their own. */
export class CellResults {
  readonly #run: SuiteRunRecord;
  readonly #dependencies: Dependencies;
  readonly #scoring: CellScoring;

  constructor(run: SuiteRunRecord, dependencies: Dependencies, signal: AbortSignal) {
    this.#run = run;
    this.#dependencies = dependencies;
    this.#scoring = new CellScoring(run, dependencies, signal);
  }

  /** Stores the result of a cell whose run has ended. Returns whether it has one: a cell that was stopped has not. */
  async finish(cell: PlannedCell, value: SuiteCase, ended: EndedCell): Promise<boolean> {
    const { suites } = this.#dependencies.transcript;
    const { number, cell: id } = cell;
    if (ended.isJoined === true) return await this.#join(cell, value);
    const endedAtMs = Date.now();
    const times = { startedAtMs: endedAtMs - ended.durationMs, endedAtMs };
    try {
      const result = await this.#readResult(ended, endedAtMs);
      if (result === undefined) return false;
      const scores = result.state === "failed" ? [] : await this.#scoring.scoreRecord(cell, value, result);
      await suites.finishCell({ run: this.#run.id, number, cell: id, result, scores });
    } catch (error) {
      if (isOutside(error)) throw error;
      const result = buildFailedResult(error, ended.attempt, times);
      await suites.finishCell({ run: this.#run.id, number, cell: id, result, scores: [] });
    }
    await this.#removeWorkspace(ended.session);
    return true;
  }

  /** Adds the scores that the run wants of a cell that is finished. */
  async scoreAgain(cell: PlannedCell, value: SuiteCase, result: CellResult): Promise<void> {
    const scores = await this.#scoring.scoreFinished(cell, value, result);
    await this.#dependencies.transcript.suites.addScores(this.#run.id, cell.number, cell.cell, scores);
  }

  /** Takes over what another run of a suite has made of the cell, if it is done. */
  async #join(cell: PlannedCell, value: SuiteCase): Promise<boolean> {
    const atMs = Date.now();
    const { suites } = this.#dependencies.transcript;
    const [claim] = await suites.claimCells([cell], { owner: this.#run.id, atMs, untilMs: atMs });
    if (claim?.type !== "finished") return false;
    await this.scoreAgain(cell, value, claim.result);
    return true;
  }

  async #readResult(ended: EndedCell, endedAtMs: number): Promise<CellResult | undefined> {
    const { session, attempt, durationMs, lost } = ended;
    const { transcript } = this.#dependencies;
    const report = await inspectChild({ session }, { transcript });
    if (report?.loopId === undefined) {
      const error = new Error(lost ?? "the run has left no record");
      return buildFailedResult(error, attempt, { startedAtMs: endedAtMs - durationMs, endedAtMs });
    }
    const { outcome, used, branch, loopId } = report;
    if (isInterrupted(outcome)) return undefined;
    const loops = await transcript.readLoops(session);
    const { paidAnswers, storedAnswers } = await readCellRecord(session, transcript);
    return {
      state: outcome.type === "failed" ? "failed" : "finished",
      attempt,
      session,
      loopId,
      branch,
      outcome: outcome.type === "failed" ? outcome.fault : outcome.type,
      ...(outcome.type === "failed" ? { message: outcome.message } : {}),
      usage: loops.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE),
      costUsd: toUsd(used.nanoUsd),
      turns: used.turns,
      durationMs,
      paidAnswers,
      storedAnswers,
      endedAtMs,
    };
  }

  async #removeWorkspace(session: string): Promise<void> {
    if (this.#run.plan.keepWorkspaces) return;
    const folder = await this.#scoring.findWorkspace(session);
    if (folder !== undefined) await removeCellWorkspace(folder);
  }
}

/** The run was ended from outside before its agent had ended: the cell is asked again. */
function isInterrupted({ type }: Outcome): boolean {
  return type === "stopped" || type === "ended" || type === "paused";
}
