import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Context } from "@temporalio/activity";
import { toNanoUsd } from "../../core/budget/amounts.ts";
import type { AnswerCellsInput, AnsweredCells, PartEndReason } from "../../core/suite/suite-parts.ts";
import { shareConcurrency } from "../../core/suite/suite-progress.ts";
import type { CellClaim, PlannedCell } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { AnswerBatch, type CompletedCell } from "./answer-batch.ts";
import { readSuiteRun } from "./suite-run.ts";

// Cells of one answer, many of them in one activity.
//
// Invariants
//   A1. A cell is asked only while its claim is held, and an answer is stored before anything else follows from it: a
//       repetition after a crash asks only for what is unanswered.
//   A2. The claims belong to the activity, not to its execution: the next execution takes them over at once.
//   A3. A cell without a result stays pending.

/** Cells of one activity: few enough that their cases fit into memory. */
const BATCH_CELLS = 250;

/** After this time nothing new begins, so that the activity ends well before its time limit. */
const BEGIN_FOR_MS = 5 * 60_000;

const CLAIM_MS = 30_000;
const RENEW_MS = 10_000;
/** How often the run's control is read, and cells that another run works on are looked at. */
const LOOK_MS = 1000;

/** Asks and scores the pending cells of a range. */
export function answerCells(input: AnswerCellsInput, dependencies: Dependencies): Promise<AnsweredCells> {
  return withHeartbeat(
    () => undefined,
    () =>
      new CellAnswering(input, dependencies).run().catch((error: unknown) => {
        throw toFailure(error);
      }),
  );
}

class CellAnswering {
  readonly #input: AnswerCellsInput;
  readonly #dependencies: Dependencies;
  readonly #owner: string;
  readonly #signal = Context.current().cancellationSignal;
  readonly #beginUntilMs = Date.now() + BEGIN_FOR_MS;
  #concurrency = 1;
  /** Resolves when an operator has changed something. */
  #changed = createDeferred();
  #endReason: PartEndReason | undefined;
  #spentUsd: number | null = 0;
  #moved = 0;
  readonly #failures = new Map<string, number>();

  constructor(input: AnswerCellsInput, dependencies: Dependencies) {
    this.#input = input;
    this.#dependencies = dependencies;
    // Each cell in flight listens.
    setMaxListeners(0, this.#signal);
    const { workflowExecution, activityId } = Context.current().info;
    this.#owner = `${workflowExecution?.runId ?? ""}/${activityId}`;
  }

  async run(): Promise<AnsweredCells> {
    const { run, after, to } = this.#input;
    const { suites } = this.#dependencies.transcript;
    const found = await suites.readPending(run, after, BATCH_CELLS);
    const cells = found.filter(({ number, kind }) => number <= to && kind === "answer");
    const looked = found.length < BATCH_CELLS ? to : Math.min(to, found.at(-1)?.number ?? to);
    if (cells.length === 0) return { reason: "done", cells: 0, after: looked, spentNanoUsd: 0 };
    const renewing = setInterval(() => {
      suites.renewClaims(this.#owner, Date.now() + CLAIM_MS).catch(() => undefined);
    }, RENEW_MS);
    const looking = setInterval(() => void this.#look().catch(() => undefined), LOOK_MS);
    try {
      await this.#answer(cells);
    } finally {
      clearInterval(renewing);
      clearInterval(looking);
      await suites.releaseClaims(this.#owner).catch(() => undefined);
    }
    this.#signal.throwIfAborted();
    const isWhole = this.#endReason === undefined;
    return {
      reason: this.#endReason ?? "done",
      cells: this.#moved,
      // What was not begun stays before the cursor only if the part ends with it.
      after: isWhole ? looked : after,
      spentNanoUsd: toNanoUsd(this.#spentUsd),
    };
  }

  async #answer(cells: readonly PlannedCell[]): Promise<void> {
    const { run } = this.#input;
    const { suites } = this.#dependencies.transcript;
    const record = await readSuiteRun(run, this.#dependencies.transcript);
    this.#concurrency = shareConcurrency(record.control, this.#input.lane);
    const batch = await AnswerBatch.open(record, cells, this.#dependencies, this.#signal);
    let left = cells;
    while (left.length > 0 && this.#mayBegin()) {
      const atMs = Date.now();
      const claim = { owner: this.#owner, atMs, untilMs: atMs + CLAIM_MS };
      const claims = new Map((await suites.claimCells(left, claim)).map((one) => [one.number, one]));
      const waiting: PlannedCell[] = [];
      const ready = left.flatMap((cell) => {
        const found = claims.get(cell.number);
        if (found !== undefined && found.type !== "busy") return [{ cell, claim: found }];
        waiting.push(cell);
        return [];
      });
      await this.#answerClaimed(ready, batch, record.plan.stopAfterFailures);
      left = waiting;
      if (left.length > 0 && this.#mayBegin())
        await sleep(LOOK_MS, undefined, { signal: this.#signal }).catch(() => undefined);
    }
  }

  /** Works on claimed cells, as many side by side as the concurrency says at the moment. */
  async #answerClaimed(
    ready: readonly { readonly cell: PlannedCell; readonly claim: Exclude<CellClaim, { type: "busy" }> }[],
    batch: AnswerBatch,
    stopAfterFailures: number | null,
  ): Promise<void> {
    const queue = [...ready];
    const inFlight = new Set<Promise<void>>();
    while (queue.length > 0 && this.#mayBegin()) {
      if (inFlight.size >= this.#concurrency) {
        await Promise.race([...inFlight, this.#changed.promise]);
        continue;
      }
      const { cell, claim } = queue.shift()!;
      const work = batch.complete(cell, claim).then((done) => {
        inFlight.delete(work);
        this.#count(done, stopAfterFailures);
      });
      inFlight.add(work);
      work.catch(() => inFlight.delete(work));
    }
    await Promise.all(inFlight);
  }

  #count({ paidUsd, hasMoved, failure }: CompletedCell, stopAfterFailures: number | null): void {
    if (hasMoved) this.#moved += 1;
    this.#spentUsd = this.#spentUsd === null || paidUsd === null ? null : this.#spentUsd + paidUsd;
    if (failure === undefined || stopAfterFailures === null) return;
    const failures = (this.#failures.get(failure) ?? 0) + 1;
    this.#failures.set(failure, failures);
    if (failures >= stopAfterFailures) this.#endReason ??= "failures";
  }

  #mayBegin(): boolean {
    const { nanoUsd } = this.#input;
    if (this.#signal.aborted) this.#endReason ??= "stopped";
    else if (nanoUsd !== null && (toNanoUsd(this.#spentUsd) ?? Number.POSITIVE_INFINITY) >= nanoUsd)
      this.#endReason ??= "budget";
    else if (Date.now() > this.#beginUntilMs) this.#endReason ??= "done";
    return this.#endReason === undefined;
  }

  /** Follows what an operator has changed meanwhile. */
  async #look(): Promise<void> {
    const record = await this.#dependencies.transcript.suites.readRun(this.#input.run);
    if (record === undefined) return;
    const { state } = record.control;
    if (state === "paused") this.#endReason ??= "paused";
    if (state === "stopping") this.#endReason ??= "stopped";
    const concurrency = shareConcurrency(record.control, this.#input.lane);
    if (this.#endReason === undefined && concurrency === this.#concurrency) return;
    this.#concurrency = concurrency;
    this.#changed.resolve();
    this.#changed = createDeferred();
  }
}

type Deferred = { readonly promise: Promise<void>; readonly resolve: () => void };

function createDeferred(): Deferred {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
