import type { AnswerSharing } from "../../schema/answer-sharing.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { SuiteCase } from "../../schema/suite.ts";
import type { CellClaim, CellResult, PlannedCell, SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { buildAnswerDigest } from "../model/answer-digest.ts";
import { checkDefinition } from "../open-loop/check-definition.ts";
import { askForAnswer } from "./ask-answer.ts";
import {
  CellDefinitions,
  type DerivedDefinition,
  deriveCellDefinition,
  getSharing,
} from "./cell-definition.ts";
import { buildFailedResult, isOutside } from "./cell-failure.ts";
import { CellScoring } from "./cell-scoring.ts";
import { buildSessionId } from "./cell-session.ts";
import { readCasesOf } from "./read-cases.ts";
import { buildAnswerRecord } from "./record-answer.ts";

/** What has become of one cell. */
export type CompletedCell = {
  /** It is finished, has failed, or is to be asked in another way. */
  readonly hasMoved: boolean;
  readonly paidUsd: number | null;
  /** The class of its failure. */
  readonly failure?: string;
};

const LEFT: CompletedCell = { hasMoved: false, paidUsd: 0 };

/** The cells of one activity, with what they have in common. */
export class AnswerBatch {
  readonly #run: SuiteRunRecord;
  readonly #cases: ReadonlyMap<number, SuiteCase>;
  readonly #dependencies: Dependencies;
  readonly #signal: AbortSignal;
  readonly #definitions: CellDefinitions;
  readonly #scoring: CellScoring;
  /** The definitions of the configurations, by their hashes. */
  readonly #checked = new Map<string, Promise<AgentDefinition>>();

  private constructor(
    run: SuiteRunRecord,
    cases: ReadonlyMap<number, SuiteCase>,
    dependencies: Dependencies,
    signal: AbortSignal,
  ) {
    this.#run = run;
    this.#cases = cases;
    this.#dependencies = dependencies;
    this.#signal = signal;
    this.#definitions = new CellDefinitions(dependencies.transcript);
    this.#scoring = new CellScoring(run, dependencies, signal);
  }

  static async open(
    run: SuiteRunRecord,
    cells: readonly PlannedCell[],
    dependencies: Dependencies,
    signal: AbortSignal,
  ): Promise<AnswerBatch> {
    const cases = await readCasesOf(run.id, cells, dependencies.transcript);
    return new AnswerBatch(run, cases, dependencies, signal);
  }

  /** Asks a claimed cell and stores its result. Faults that say nothing about the cell leave it pending. */
  async complete(cell: PlannedCell, claim: Exclude<CellClaim, { type: "busy" }>): Promise<CompletedCell> {
    if (this.#signal.aborted) return LEFT;
    const startedAtMs = Date.now();
    const { suites } = this.#dependencies.transcript;
    const value = this.#cases.get(cell.caseNumber)!;
    try {
      if (claim.type === "finished") return await this.#scoreAgain(cell, value, claim.result);
      return await this.#answer(cell, value, claim.attempt, startedAtMs);
    } catch (error) {
      if (isOutside(error) || this.#signal.aborted) return LEFT;
      const attempt = claim.type === "claimed" ? claim.attempt : claim.result.attempt;
      const result = buildFailedResult(error, attempt, { startedAtMs, endedAtMs: Date.now() });
      const { number, cell: id } = cell;
      await suites.finishCell({ run: this.#run.id, number, cell: id, result, scores: [] });
      return { hasMoved: true, paidUsd: 0, failure: result.outcome };
    }
  }

  async #answer(
    cell: PlannedCell,
    value: SuiteCase,
    attempt: number,
    startedAtMs: number,
  ): Promise<CompletedCell> {
    const { suites } = this.#dependencies.transcript;
    const session = buildSessionId(cell.cell, attempt);
    const { definition, hash } = await this.#readDefinition(cell);
    const [text = ""] = value.messages;
    const question = { session, sharing: getSharing(this.#run, cell), definition, text, atMs: startedAtMs };
    const asked = await askForAnswer(question, this.#dependencies, this.#signal);
    const { answer: message, definition: answering, fallback } = asked;
    const digest = await buildAnswerDigest(message, answering, this.#dependencies, { attempts: 1 });
    const endedAtMs = Date.now();
    const record = buildAnswerRecord(
      {
        ...{ session, definition, definitionHash: hash, text, message, startedAtMs, endedAtMs },
        digest: fallback === undefined ? digest : { ...digest, fallback },
      },
      this.#dependencies,
    );
    const { number, cell: id } = cell;
    const isStored = message.storedFrom !== undefined;
    if (record === undefined) {
      // The machine would ask again, for an output that matches, say. The answer is stored, and is not paid again.
      await suites.giveRunToCell(this.#run.id, number);
      return { hasMoved: true, paidUsd: isStored ? 0 : digest.costUsd };
    }
    const { closing, loopId } = record;
    const result: CellResult = {
      state: closing.outcome.type === "failed" ? "failed" : "finished",
      attempt,
      session,
      loopId,
      branch: "main",
      outcome: closing.outcome.type === "failed" ? closing.outcome.fault : closing.outcome.type,
      ...(closing.outcome.type === "failed" ? { message: closing.outcome.message } : {}),
      usage: closing.usage,
      costUsd: closing.costUsd,
      turns: closing.turns,
      durationMs: endedAtMs - startedAtMs,
      paidAnswers: isStored ? 0 : 1,
      storedAnswers: isStored ? 1 : 0,
      endedAtMs,
    };
    const scored = { answer: getMessageText(message), messages: [message], calls: [], result };
    const scores = result.state === "failed" ? [] : await this.#scoring.score(cell, value, scored);
    await suites.recordAnsweredCell({
      ...{ run: this.#run.id, number, cell: id, result, scores },
      opening: record.opening,
      write: record.write,
      closing,
    });
    const paid = isStored ? 0 : result.costUsd;
    return {
      hasMoved: true,
      paidUsd: addPaid(paid, scores),
      ...(result.state === "failed" ? { failure: result.outcome } : {}),
    };
  }

  /** Adds the scores that a run wants of a cell that is finished. */
  async #scoreAgain(cell: PlannedCell, value: SuiteCase, result: CellResult): Promise<CompletedCell> {
    const scores = await this.#scoring.scoreFinished(cell, value, result);
    const { number, cell: id } = cell;
    await this.#dependencies.transcript.suites.addScores(this.#run.id, number, id, scores);
    return { hasMoved: true, paidUsd: addPaid(0, scores) };
  }

  /** Reads what the cell runs with. What could be wrong with it is checked once for the batch. */
  async #readDefinition(cell: PlannedCell): Promise<DerivedDefinition> {
    const { definitionHash } = this.#run.plan.configurations[cell.configuration]!;
    const sharing = getSharing(this.#run, cell);
    const definition = await this.#readChecked(definitionHash, sharing);
    return await this.#definitions.derive({ hash: definitionHash, definition }, sharing);
  }

  #readChecked(hash: string, sharing: AnswerSharing): Promise<AgentDefinition> {
    const known = this.#checked.get(hash);
    if (known !== undefined) return known;
    const read = async () => {
      const definition = await this.#dependencies.definitions.readAccepted(hash);
      await checkDefinition(deriveCellDefinition(definition, sharing), this.#dependencies);
      return definition;
    };
    const checked = read();
    this.#checked.set(hash, checked);
    checked.catch(() => this.#checked.delete(hash));
    return checked;
  }
}

function addPaid(
  paid: number | null,
  scores: readonly { readonly score: { readonly costUsd?: number | null | undefined } }[],
): number | null {
  return scores.reduce<number | null>(
    (sum, { score }) => (sum === null || score.costUsd === null ? null : sum + (score.costUsd ?? 0)),
    paid,
  );
}
