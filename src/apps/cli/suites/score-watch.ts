import type { SuiteRun } from "../../../client/index.ts";
import { listMainScores, type MainScore } from "./suite-progress.ts";

/** Scores are not read more often than this. */
const MIN_INTERVAL_MS = 10_000;

/** Of the time, at most one part in so many is spent on reading scores: a reading takes all cells. */
const READING_SHARE = 20;

/** Reads the scores of a run that works, in the background. Nothing waits for a reading, and none ever rejects. */
export class ScoreWatch {
  readonly #run: Pick<SuiteRun, "report">;
  #reading: Promise<void> | undefined;
  #nextAtMs = 0;
  #latest: readonly MainScore[] = [];

  constructor(run: Pick<SuiteRun, "report">) {
    this.#run = run;
  }

  /** The scores of the last reading; none before the first. */
  get latest(): readonly MainScore[] {
    return this.#latest;
  }

  /** Begins a reading if one is due. */
  refresh(nowMs: number): void {
    if (this.#reading !== undefined || nowMs < this.#nextAtMs) return;
    this.#reading = this.#read(nowMs).finally(() => {
      this.#reading = undefined;
    });
  }

  async #read(startedAtMs: number): Promise<void> {
    try {
      this.#latest = listMainScores(await this.#run.report());
    } catch {
      // The scores are an extra: the report at the end reads them again, and its error is shown.
    }
    const nowMs = Date.now();
    this.#nextAtMs = nowMs + Math.max(MIN_INTERVAL_MS, READING_SHARE * (nowMs - startedAtMs));
  }
}
