import { setTimeout as sleep } from "node:timers/promises";
import type { SuiteReport } from "../../evaluation/report/index.ts";
import type { SuiteCase, SuiteControl } from "../../schema/suite.ts";
import type { CellCounts, CellRow, CellState, SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { SuiteResult } from "../../workflows/suite-input.ts";
import { hasRunEnded, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** How far a run of a suite has come. */
export type SuiteRunStatus = SuiteRunRecord & CellCounts;

/** A cell of a run: its case, its configuration, its result and its scores. */
export type SuiteCell = Omit<CellRow, "scores"> & {
  /** The id of the case. */
  readonly caseId: string;
  /** The name of the configuration. */
  readonly configurationName: string;
  /** In the order of the run's scorers; absent scores are not there yet. */
  readonly scores: readonly {
    /** The name of the score. */
    readonly name: string;
    /** The score, and how it came about. */
    readonly score: CellRow["scores"][string];
  }[];
};

/** Which cells are read. */
export type ReadCellsOptions = {
  /** The name of a configuration. */
  readonly configuration?: string;
  /** The id of a case. */
  readonly caseId?: string;
  /** The state of the cells. */
  readonly state?: CellState;
  /** Only cells with a higher number. */
  readonly after?: number;
};

const WATCH_INTERVAL_MS = 1000;

/** One run of a suite. */
export class SuiteRun {
  /** The id of the run, which is also its workflow id. */
  readonly id: string;
  readonly #link: ClientLink;

  /** @internal */
  constructor(link: ClientLink, id: string) {
    this.#link = link;
    this.id = id;
  }

  /** Reads how far the run has come. */
  async status(): Promise<SuiteRunStatus> {
    const { suites } = await this.#openTranscript();
    const record = await this.#readRecord();
    return { ...record, ...(await suites.countCells(this.id)) };
  }

  /** Yields the status each second until the run has ended. */
  async *watch(
    options: {
      /** Ends the waiting. */
      readonly signal?: AbortSignal;
      /** The time between two readings, in milliseconds. */
      readonly intervalMs?: number;
    } = {},
  ): AsyncGenerator<SuiteRunStatus> {
    const { signal, intervalMs = WATCH_INTERVAL_MS } = options;
    for (;;) {
      const status = await this.status();
      yield status;
      if (hasEnded(status)) return;
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
      if (signal?.aborted === true) return;
    }
  }

  /**
   * Waits until no cell is pending, or the run was stopped.
   *
   * @throws {HoldfastError} If the run itself has failed.
   */
  async result(
    options: {
      /** Ends the waiting. */
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<SuiteResult> {
    const { awaitResult } = await import("../runs/await-result.ts");
    const result: unknown = await awaitResult(this.#link, this.id, options);
    return result as SuiteResult;
  }

  /** Begins no further cell until the run is resumed. Cells in flight end. */
  async pause(): Promise<SuiteRunRecord> {
    return await this.change({ state: "paused" });
  }

  /** Continues a run that is paused, was stopped, or whose workflow is gone. */
  async resume(): Promise<SuiteRunRecord> {
    const { suites } = await this.#openTranscript();
    const { status } = await this.#readRecord();
    if (status === "planning")
      throw new HoldfastError(
        "input-invalid",
        `The cells of run ${this.id} were never stored completely: start the suite again. Cells that are finished are reused.`,
        { session: this.id },
      );
    // What the budget has cut off is asked again: the run may have another one now.
    const { BUDGET_CLASS } = await import("../../core/suite/suite-parts.ts");
    await suites.retryFailed(this.id, BUDGET_CLASS);
    const record = await this.change({ state: "running" });
    await suites.setStatus(this.id, { status: "running", atMs: Date.now() });
    const { launchSuite } = await import("./start-suite.ts");
    await launchSuite(this.#link, record);
    return await this.#readRecord();
  }

  /** Stops the cells in flight, which stay pending. Returns whether the run was open. */
  async stop(reason?: string): Promise<boolean> {
    const { suites } = await this.#openTranscript();
    const record = await this.#readRecord();
    const { stopSignal } = await import("../../workflows/messages.ts");
    try {
      await this.#link.client.workflow.getHandle(this.id).signal(stopSignal, ...omitEmpty(reason));
      return true;
    } catch (error) {
      if (hasRunEnded(error)) {
        // Its workflow was terminated, say, and has not stored an end.
        if (!hasEnded(await this.#readRecord()) && record.status !== "planning")
          await suites.setStatus(this.id, { status: "stopped", reason, stopCode: "user", atMs: Date.now() });
        return false;
      }
      throw toHoldfastError(error, this.#link, this.id);
    }
  }

  /**
   * Changes the concurrency, the budget or the state, also while cells are asked.
   *
   * @throws {HoldfastError} If a value is not valid, or a budget is given and the price of a model is unknown.
   */
  async change(change: Partial<SuiteControl>): Promise<SuiteRunRecord> {
    const transcript = await this.#openTranscript();
    const { suites } = transcript;
    const [{ SuiteControl: Control }, { parseSuiteInput }] = await Promise.all([
      import("../../schema/suite.ts"),
      import("./parse-suite-input.ts"),
    ]);
    parseSuiteInput(Control.partial(), change, "The change");
    if (change.maxCostUsd != null) {
      const { assertPricesKnown, readPlannedAgents } = await import("./assert-prices-known.ts");
      assertPricesKnown(change, await readPlannedAgents((await this.#readRecord()).plan, transcript));
    }
    const record = await suites.controlRun(this.id, change);
    if (record === undefined) return await this.#rejectUnknown();
    if (change.state === "paused" && record.status === "running")
      await suites.setStatus(this.id, { status: "paused", atMs: Date.now() });
    if (change.state === "running" && record.status === "paused")
      await suites.setStatus(this.id, { status: "running", atMs: Date.now() });
    await this.#signal(change);
    return await this.#readRecord();
  }

  /** Makes failed cells pending again, of one class if given, and resumes the run. Returns their number. */
  async retryFailed(failureClass?: string): Promise<number> {
    const { suites } = await this.#openTranscript();
    await this.#readRecord();
    const retried = await suites.retryFailed(this.id, failureClass);
    if (retried > 0) await this.resume();
    return retried;
  }

  /** Yields the cells in their order, page by page. */
  async *cells(options: ReadCellsOptions = {}): AsyncGenerator<SuiteCell> {
    const { suites } = await this.#openTranscript();
    const record = await this.#readRecord();
    const configuration = this.#findConfiguration(record, options.configuration);
    const { state, caseId, after } = options;
    const { CaseReader, findCase } = await import("./read-cases.ts");
    const { readCellRows } = await import("./read-cell-rows.ts");
    const { getScorerName } = await import("../../schema/scorer-name.ts");
    const caseNumber = caseId === undefined ? undefined : (await findCase(suites, this.id, caseId)).number;
    const names = record.plan.scorers.map(getScorerName);
    const cases = new CaseReader(this.id, suites);
    for await (const row of readCellRows(suites, this.id, { configuration, state, caseNumber, after })) {
      yield {
        ...row,
        caseId: await cases.readId(row.caseNumber),
        configurationName: record.plan.configurations[row.configuration]!.name,
        scores: record.scorers.flatMap((digest, at) => {
          const score = row.scores[digest];
          return score === undefined ? [] : [{ name: names[at]!, score }];
        }),
      };
    }
  }

  /** Reads a case of the run by its id. */
  async readCase(id: string): Promise<SuiteCase> {
    const { suites } = await this.#openTranscript();
    const { findCase } = await import("./read-cases.ts");
    return (await findCase(suites, this.id, id)).value;
  }

  /** Reports the scores, costs and failures of the run's cells, also while it runs. Reads all cells. */
  async report(): Promise<SuiteReport> {
    const { readReport } = await import("./read-report.ts");
    const { suites } = await this.#openTranscript();
    return await readReport(suites, await this.#readRecord());
  }

  /** Deletes the run, which must have ended. Its cells' sessions and answers stay. */
  async delete(): Promise<void> {
    const { suites } = await this.#openTranscript();
    const record = await this.#readRecord();
    if (!hasEnded(record) && record.status !== "planning")
      throw new HoldfastError(
        "session-busy",
        `Run ${this.id} has not ended. Stop it with \`holdfast eval stop ${this.id}\`, then delete it.`,
        { session: this.id },
      );
    while (!(await suites.deleteRunPage(this.id, 2000)).done);
  }

  #findConfiguration({ plan }: SuiteRunRecord, name: string | undefined): number | undefined {
    if (name === undefined) return undefined;
    const index = plan.configurations.findIndex((one) => one.name === name);
    if (index >= 0) return index;
    const names = plan.configurations.map((one) => one.name).join(", ");
    throw new HoldfastError("input-invalid", `Run ${this.id} has no configuration ${name}; it has ${names}.`);
  }

  async #signal(change: Partial<SuiteControl>): Promise<void> {
    const { controlSuiteSignal } = await import("../../workflows/messages.ts");
    try {
      await this.#link.client.workflow.getHandle(this.id).signal(controlSuiteSignal, change);
    } catch (error) {
      if (!hasRunEnded(error)) throw toHoldfastError(error, this.#link, this.id);
    }
  }

  async #readRecord(): Promise<SuiteRunRecord> {
    const { suites } = await this.#openTranscript();
    const record = await suites.readRun(this.id);
    if (record === undefined) return await this.#rejectUnknown();
    return record;
  }

  async #rejectUnknown(): Promise<never> {
    const { createUnknownRunError } = await import("./resolve-suite-run.ts");
    throw createUnknownRunError(this.id);
  }

  #openTranscript(): Promise<Transcript> {
    return this.#link.storage.openTranscript();
  }
}

/** Returns whether nothing of a run will change unless a user resumes it. */
export function hasEnded({ status }: Pick<SuiteRunRecord, "status">): boolean {
  return status === "ended" || status === "stopped" || status === "failed";
}

function omitEmpty(reason: string | undefined): [] | [string] {
  return reason === undefined ? [] : [reason];
}
