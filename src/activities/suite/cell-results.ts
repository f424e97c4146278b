import { toUsd } from "../../core/budget/amounts.ts";
import { isDollarBudgetReason } from "../../core/budget/shortage.ts";
import { addUsage, NO_USAGE } from "../../core/budget/usage.ts";
import { BUDGET_CLASS, type EndedCell } from "../../core/suite/suite-parts.ts";
import type { Outcome } from "../../schema/record.ts";
import type { SuiteCase } from "../../schema/suite.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
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
  async finish(
    cell: PlannedCell,
    value: SuiteCase,
    ended: EndedCell & { readonly isOpen?: boolean },
  ): Promise<boolean> {
    const { suites } = this.#dependencies.transcript;
    const { number, cell: id } = cell;
    if (ended.isJoined === true) {
      if (await this.#join(cell, value)) return true;
      // The run that was joined stores the result, unless it is gone.
      if (ended.isOpen === true || !(await this.#hasEnded(ended.session))) return false;
    }
    const endedAtMs = Date.now();
    const times = { startedAtMs: endedAtMs - ended.durationMs, endedAtMs };
    try {
      const result = await this.#readResult(cell, ended, endedAtMs);
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

  /** Returns whether a session has ended with an outcome of its own. */
  async #hasEnded(session: string): Promise<boolean> {
    const record = await this.#dependencies.transcript.readSession(session);
    return record?.status === "completed" || record?.status === "failed";
  }

  async #readResult(cell: PlannedCell, ended: EndedCell, endedAtMs: number): Promise<CellResult | undefined> {
    const { session, attempt, lost } = ended;
    const { transcript } = this.#dependencies;
    const report = await inspectChild({ session }, { transcript });
    if (report?.loopId === undefined) {
      const error = new Error(lost ?? "the run has left no record");
      return buildFailedResult(error, attempt, { startedAtMs: endedAtMs - ended.durationMs, endedAtMs });
    }
    const { outcome, used, branch, loopId } = report;
    if (isInterrupted(outcome)) return undefined;
    const loops = await transcript.readLoops(session);
    const durationMs = ended.durationMs > 0 ? ended.durationMs : computeDuration(loops);
    const costUsd = toUsd(used.nanoUsd);
    const failure = await this.#findFailure(cell, outcome, costUsd);
    const { paidAnswers, storedAnswers } = await readCellRecord({ session, loopId, branch }, transcript);
    return {
      state: failure === undefined ? "finished" : "failed",
      attempt,
      session,
      loopId,
      branch,
      outcome: failure?.class ?? outcome.type,
      ...(failure === undefined ? {} : { message: failure.message }),
      usage: loops.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE),
      costUsd,
      turns: used.turns,
      durationMs,
      paidAnswers,
      storedAnswers,
      endedAtMs,
    };
  }

  /** Returns why the outcome of a cell is not a result of it. Its result does not depend on the budget of the run. */
  async #findFailure(
    { configuration }: PlannedCell,
    outcome: Outcome,
    costUsd: number | null,
  ): Promise<{ readonly class: string; readonly message: string } | undefined> {
    if (outcome.type === "failed") return { class: outcome.fault, message: outcome.message };
    if (outcome.type !== "limit-reached" || !isDollarBudgetReason(outcome.reason)) return undefined;
    const { definitionHash = "" } = this.#run.plan.configurations[configuration] ?? {};
    const { maxCostUsd } = (await this.#dependencies.definitions.read(definitionHash)).limits;
    if (maxCostUsd !== null && (costUsd ?? 0) >= maxCostUsd) return undefined;
    return { class: BUDGET_CLASS, message: `The budget of the run was used up: ${outcome.reason}` };
  }

  async #removeWorkspace(session: string): Promise<void> {
    if (this.#run.plan.keepWorkspaces) return;
    const folder = await this.#scoring.findWorkspace(session);
    if (folder !== undefined) await removeCellWorkspace(folder);
  }
}

/** Of a run that nobody has watched: the time of its loops. */
function computeDuration(loops: readonly LoopRecord[]): number {
  return loops.reduce(
    (sum, { startedAtMs, endedAtMs = startedAtMs }) => sum + Math.max(0, endedAtMs - startedAtMs),
    0,
  );
}

/** The run was ended from outside before its agent had ended: the cell is asked again. */
function isInterrupted({ type }: Outcome): boolean {
  return type === "stopped" || type === "ended" || type === "paused";
}
