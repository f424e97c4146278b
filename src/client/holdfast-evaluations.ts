import type { LoadedSuite } from "../config/suite-file/loaded-suite.ts";
import type { RunComparison } from "../evaluation/report/run-comparison.ts";
import type { AnswerTotals, SuiteRunRecord } from "../store/transcript/suites.ts";
import type { ClientLink } from "./connection/client-link.ts";
import type { RunSuiteOptions } from "./suites/start-suite.ts";
import { SuiteRun } from "./suites/suite-run.ts";

/** Which runs are listed. */
export type ListSuiteRunsOptions = {
  /** 100 by default. */
  readonly limit?: number;
  /** Only runs with this tag. */
  readonly tag?: string;
  /** The name of the suite. */
  readonly name?: string;
  /** The last run of the previous page. */
  readonly after?: Pick<SuiteRunRecord, "createdAtMs" | "id">;
};

/** What is deleted of the stored answers. */
export type PruneAnswersOptions = {
  /** Those that nothing has used since: Unix milliseconds. */
  readonly unusedSinceMs?: number;
  /** The least recently used ones, until the rest has at most this size. */
  readonly maxBytes?: number;
};

const PAGE_ANSWERS = 500;

/** Runs of suites: `holdfast.evaluations`. */
export class Evaluations {
  readonly #link: ClientLink;

  constructor(link: ClientLink) {
    this.#link = link;
  }

  /** Starts a run of a suite, from `readSuite` or `defineSuite`. */
  async start(suite: LoadedSuite, options?: RunSuiteOptions): Promise<SuiteRun> {
    const { startSuite } = await import("./suites/start-suite.ts");
    const { id } = await startSuite(this.#link, suite, options);
    return new SuiteRun(this.#link, id);
  }

  /** Returns a handle without checking that the run exists. */
  get(id: string): SuiteRun {
    return new SuiteRun(this.#link, id);
  }

  /**
   * Returns the id that a user's input means: an id with or without `suite-`, the beginning of one if it is unique, or `last`.
   */
  async find(reference: string): Promise<string> {
    const transcript = await this.#link.storage.openExistingTranscript();
    const { resolveSuiteRun } = await import("./suites/resolve-suite-run.ts");
    return (await resolveSuiteRun(transcript?.suites, reference)).id;
  }

  /** Compares a run with an earlier one, case by case. Takes what `find` takes. */
  async compare(earlier: string, later: string): Promise<RunComparison> {
    const { compareRuns } = await import("./suites/compare-runs.ts");
    const transcript = await this.#link.storage.openExistingTranscript();
    const { resolveSuiteRun } = await import("./suites/resolve-suite-run.ts");
    const a = await resolveSuiteRun(transcript?.suites, earlier);
    const b = await resolveSuiteRun(transcript?.suites, later);
    return await compareRuns(transcript!.suites, a, b);
  }

  /** Lists runs, the newest first. */
  async list(options: ListSuiteRunsOptions = {}): Promise<readonly SuiteRunRecord[]> {
    const transcript = await this.#link.storage.openExistingTranscript();
    return (await transcript?.suites.listRuns({ limit: 100, ...options })) ?? [];
  }

  /** Counts the stored answers. */
  async countAnswers(): Promise<AnswerTotals> {
    const transcript = await this.#link.storage.openExistingTranscript();
    return (await transcript?.suites.countAnswers()) ?? { answers: 0, bytes: 0 };
  }

  /** Deletes stored answers. Sessions that contain them stay. */
  async pruneAnswers(options: PruneAnswersOptions): Promise<{
    /** The number of deleted answers. */
    readonly deleted: number;
    /** The size of their texts, in bytes. */
    readonly bytes: number;
  }> {
    const transcript = await this.#link.storage.openExistingTranscript();
    let deleted = 0;
    let bytes = 0;
    for (let isDone = transcript === undefined; !isDone; ) {
      const page = await transcript!.suites.pruneAnswers({ ...options, limit: PAGE_ANSWERS });
      deleted += page.deleted;
      bytes += page.bytes;
      isDone = page.done;
    }
    return { deleted, bytes };
  }
}
