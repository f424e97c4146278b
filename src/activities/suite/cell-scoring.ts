import type { Message } from "../../schema/message.ts";
import type { ScoredCall } from "../../schema/score-subject.ts";
import type { SuiteCase } from "../../schema/suite.ts";
import type { CellResult, PlannedCell, ScoredBy, SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { type CellRecord, readCellRecord } from "./cell-record.ts";
import { findCellWorkspace, needsWorkspace } from "./cell-workspace.ts";
import { JudgeAnswers } from "./judge-answers.ts";
import { scoreCell } from "./scorers/score-cell.ts";

/** What scorers look at. */
export type ScoredRecord = {
  readonly answer: string;
  readonly messages: readonly Message[];
  readonly calls: readonly ScoredCall[];
  readonly result: CellResult;
};

/** Scores cells of one run by its scorers. */
export class CellScoring {
  readonly #run: SuiteRunRecord;
  readonly #dependencies: Dependencies;
  readonly #signal: AbortSignal;
  readonly #judges: JudgeAnswers;

  constructor(run: SuiteRunRecord, dependencies: Dependencies, signal: AbortSignal) {
    this.#run = run;
    this.#dependencies = dependencies;
    this.#signal = signal;
    this.#judges = new JudgeAnswers(run, dependencies, signal);
  }

  /** Scores a cell that has just ended, by all scorers. */
  async score(cell: PlannedCell, value: SuiteCase, record: ScoredRecord): Promise<readonly ScoredBy[]> {
    const digests = new Set(this.#run.scorers);
    return await this.#score(cell, value, record, digests);
  }

  /** Scores a cell whose session has ended, by all scorers. */
  async scoreRecord(cell: PlannedCell, value: SuiteCase, result: CellResult): Promise<readonly ScoredBy[]> {
    return await this.score(cell, value, { ...(await this.#readRecord(result)), result });
  }

  /** Scores a finished cell by those scorers whose scores it lacks. */
  async scoreFinished(cell: PlannedCell, value: SuiteCase, result: CellResult): Promise<readonly ScoredBy[]> {
    const { suites } = this.#dependencies.transcript;
    const [row] = await suites.readCells(this.#run.id, { after: cell.number - 1, limit: 1 });
    const missing = this.#run.scorers.filter((digest) => row?.scores[digest] === undefined);
    if (missing.length === 0) return [];
    const record = { ...(await this.#readRecord(result)), result };
    return await this.#score(cell, value, record, new Set(missing));
  }

  /** Finds the folder in which a cell has worked, if it is on this host. */
  async findWorkspace(session: string): Promise<string | undefined> {
    return await findCellWorkspace(session, this.#run.plan, this.#dependencies);
  }

  async #readRecord(result: CellResult): Promise<CellRecord> {
    return await readCellRecord(result, this.#dependencies.transcript);
  }

  async #score(
    cell: PlannedCell,
    value: SuiteCase,
    { answer, messages, calls, result }: ScoredRecord,
    digests: ReadonlySet<string>,
  ): Promise<readonly ScoredBy[]> {
    const { plan, scorers } = this.#run;
    const asked = plan.scorers.flatMap((scorer, index) => {
      const digest = scorers[index] ?? "";
      return digests.has(digest) ? [{ digest, scorer }] : [];
    });
    if (asked.length === 0) return [];
    const { definitionHash = "" } = plan.configurations[cell.configuration] ?? {};
    const definition = await this.#dependencies.definitions.read(definitionHash);
    const { sandbox } = definition;
    const workspace = result.session === undefined ? undefined : await this.findWorkspace(result.session);
    const hadWorkspace = cell.kind === "agent" && needsWorkspace(definition, value);
    const isWorkspaceMissing = workspace === undefined && hadWorkspace;
    const { costUsd, turns, durationMs } = result;
    const subject = {
      answer,
      expected: value.expected,
      metadata: value.metadata ?? {},
      calls,
      costUsd,
      turns,
      durationMs,
    };
    return await scoreCell(
      {
        scorers: asked,
        subject,
        value,
        messages,
        workspace,
        isWorkspaceMissing,
        workspaces: plan.workspaces,
        sandbox,
      },
      { ...this.#dependencies, ask: this.#judges.forCell(cell, result.session ?? "") },
      this.#signal,
    );
  }
}
