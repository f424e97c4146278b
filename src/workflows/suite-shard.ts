import {
  CancellationScope,
  condition,
  isCancellation,
  scheduleActivity,
  setHandler,
  sleep,
} from "@temporalio/workflow";
import type { Activities } from "../activities/activity-types.ts";
import type { Amounts } from "../core/budget/account-state.ts";
import { DEPTH } from "../core/job/job.ts";
import type { PartEnd } from "../core/machine/task.ts";
import { readControlChange } from "../core/suite/control-change.ts";
import type {
  AnsweredCells,
  EndedCell,
  FinishedCells,
  PartEndReason,
  PreparedCell,
} from "../core/suite/suite-parts.ts";
import type { SuiteControl } from "../schema/suite.ts";
import { buildCellsOptions, buildWriteOptions, SUITE_PRIORITY } from "./activity-options.ts";
import { controlSuiteSignal } from "./messages.ts";
import { runPartOnce } from "./part.ts";
import { checkRequest } from "./request-shapes.ts";
import type { StartRequest } from "./run-input.ts";
import type { ShardRequest } from "./suite-input.ts";

/** How long a shard waits for a cell that another run is working on before it looks again; each time twice as long. */
const FIRST_JOIN_MS = 2000;
const LONGEST_JOIN_MS = 60_000;

/** Cells that are prepared together: their ids and hashes are in the history. */
const PAGE_CELLS = 50;

/** Asks and scores cells of one kind that follow each other. Returns how far it has come. */
export async function suiteShard(request: ShardRequest): Promise<AnsweredCells> {
  checkRequest(request, "suiteShard");
  let control: Pick<SuiteControl, "state" | "concurrency"> = request;
  setHandler(controlSuiteSignal, (change) => {
    control = { ...control, ...readControlChange(change) };
  });
  return request.kind === "answer"
    ? await answerCells(request, () => control)
    : await new AgentCells(request, () => control).run();
}

type ReadControl = () => Pick<SuiteControl, "state" | "concurrency">;

/** Has cells of one answer asked, many of them by one activity. */
async function answerCells(request: ShardRequest, read: ReadControl): Promise<AnsweredCells> {
  const { run, to, lane } = request;
  let { after, nanoUsd } = request;
  let cells = 0;
  for (;;) {
    const { state } = read();
    if (state !== "running") return { reason: toReason(state), cells, after };
    const input = { run, after, to, lane, nanoUsd };
    const options = buildCellsOptions(`cells ${after + 1} to ${to}`);
    const done = await scheduleActivity<Awaited<ReturnType<Activities["answer-cells"]>>>(
      "answer-cells",
      [input],
      options,
    );
    cells += done.cells;
    after = done.after;
    if (nanoUsd !== null) nanoUsd = Math.max(0, nanoUsd - (done.spentNanoUsd ?? nanoUsd));
    if (done.reason !== "done" || after >= to) return { reason: done.reason, cells, after };
  }
}

function toReason(state: SuiteControl["state"]): PartEndReason {
  return state === "paused" ? "paused" : "stopped";
}

/** Runs cells as agents of their own, with a window of those that work side by side. */
class AgentCells {
  readonly #request: ShardRequest;
  readonly #read: ReadControl;
  readonly #ended: EndedCell[] = [];
  #inFlight = 0;
  #isFinishing = false;
  #cells = 0;
  #freeNanoUsd: number | null;
  #isOverBudget = false;
  /** Why ended cells could not be scored. */
  #scoringFailure: unknown;

  constructor(request: ShardRequest, read: ReadControl) {
    this.#request = request;
    this.#read = read;
    this.#freeNanoUsd = request.nanoUsd;
  }

  async run(): Promise<AnsweredCells> {
    const { run, to } = this.#request;
    let { after } = this.#request;
    let busy = 0;
    try {
      while (after < to && this.#mayBegin()) {
        const input = { run, after, to, limit: PAGE_CELLS };
        const page = await scheduleActivity<Awaited<ReturnType<Activities["prepare-cells"]>>>(
          "prepare-cells",
          [input],
          { ...buildWriteOptions(`cells after ${after}`), priority: SUITE_PRIORITY },
        );
        this.#cells += page.ended;
        busy += page.busy;
        for (const cell of page.cells) {
          await condition(() => !this.#mayBegin() || this.#inFlight < this.#read().concurrency);
          if (!this.#mayBegin()) break;
          void this.#runCell(cell);
        }
        after = page.after;
      }
      // What works on them ends soon: the next round finds out how.
      if (busy > 0 && this.#mayBegin()) {
        await sleep(FIRST_JOIN_MS);
        this.#cells += busy;
      }
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
    return await CancellationScope.nonCancellable(async () => {
      await condition(() => this.#inFlight === 0 && this.#ended.length === 0 && !this.#isFinishing);
      if (this.#scoringFailure !== undefined) throw this.#scoringFailure;
      const reason = this.#isOverBudget ? "budget" : after >= to ? "done" : toReason(this.#read().state);
      return { reason, cells: this.#cells, after };
    });
  }

  #mayBegin(): boolean {
    return (
      this.#read().state === "running" &&
      !this.#isOverBudget &&
      this.#scoringFailure === undefined &&
      !CancellationScope.current().consideredCancelled
    );
  }

  async #runCell(cell: PreparedCell): Promise<void> {
    const share = this.#reserve();
    if (share === undefined) return;
    this.#inFlight += 1;
    const startedAtMs = Date.now();
    const { number, session, attempt } = cell;
    let reserved: number | null = share;
    const settle = (end: PartEnd | undefined) => {
      this.#settle(reserved, end);
      reserved = null;
    };
    try {
      const end = await runPartOnce(session, this.#buildRequest(cell, share), cell.summary);
      settle(end);
      if (end.type === "lost" && end.cause === "taken") await this.#join(cell);
      else {
        const lost = end.type === "lost" ? { lost: end.reason } : {};
        this.#ended.push({ number, session, attempt, durationMs: Date.now() - startedAtMs, ...lost });
      }
    } catch (error) {
      settle(undefined);
      // A cell that could not be started stays pending.
      if (!isCancellation(error)) {
        const lost = error instanceof Error ? error.message : String(error);
        this.#ended.push({ number, session, attempt, durationMs: Date.now() - startedAtMs, lost });
      }
    }
    this.#inFlight -= 1;
    void this.#finish();
  }

  #buildRequest(cell: PreparedCell, nanoUsd: number | null): StartRequest {
    const [first, ...others] = cell.messages;
    return {
      definitionHash: cell.definitionHash,
      ...(first === undefined ? {} : { prompt: { ...first, id: `${cell.session}-1` } }),
      ...(others.length === 0
        ? {}
        : { followUps: others.map((one, at) => ({ ...one, id: `${cell.session}-${at + 2}` })) }),
      ...(cell.continues === true ? { continuation: { kind: { type: "default" as const } } } : {}),
      share: { turns: null, tokens: null, nanoUsd, children: null, deadlineMs: null, depth: DEPTH },
      settings: this.#request.settings,
    };
  }

  /** Another run of a suite works on the cell, or has: waits for its result, or until it is known that there is none. */
  async #join({ number, session, attempt }: PreparedCell): Promise<void> {
    for (let waitMs = FIRST_JOIN_MS; this.#mayBegin(); waitMs = Math.min(waitMs * 2, LONGEST_JOIN_MS)) {
      await sleep(waitMs);
      const cells = [{ number, session, attempt, durationMs: 0, isJoined: true as const }];
      const { cells: joined, left } = await this.#score(cells);
      this.#cells += left;
      if (joined + left > 0) return;
    }
  }

  /**
   * Scores ended cells, one activity at a time: those that end meanwhile are the next ones. A stop does not wait for scorers:
   * what is not scored stays pending, and is scored without being asked again.
   */
  async #finish(): Promise<void> {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    try {
      while (this.#ended.length > 0) {
        await this.#score(this.#ended.splice(0, PAGE_CELLS));
      }
    } catch (error) {
      this.#ended.length = 0;
      if (!isCancellation(error)) this.#scoringFailure = error;
    }
    // At once: a cell that ends later finds that nobody works on it.
    this.#isFinishing = false;
  }

  async #score(ended: readonly EndedCell[]): Promise<FinishedCells> {
    const finished = await scheduleActivity<Awaited<ReturnType<Activities["finish-cells"]>>>(
      "finish-cells",
      [{ run: this.#request.run, cells: ended }],
      buildCellsOptions(`${ended.length} ended cells`),
    );
    this.#cells += finished.cells;
    return finished;
  }

  /** Reserves an equal share of what is free for each cell that may still begin beside it. */
  #reserve(): number | null | undefined {
    if (this.#freeNanoUsd === null) return null;
    const lanes = Math.max(1, this.#read().concurrency - this.#inFlight);
    const share = Math.floor(this.#freeNanoUsd / lanes);
    if (share <= 0) {
      this.#isOverBudget = true;
      return undefined;
    }
    this.#freeNanoUsd -= share;
    return share;
  }

  #settle(share: number | null, end: PartEnd | undefined): void {
    if (share === null || this.#freeNanoUsd === null) return;
    const used: Amounts | undefined = end?.report?.used;
    // A cell that another run works on costs this one nothing.
    const isFree = end === undefined || (end.type === "lost" && end.cause === "taken");
    this.#freeNanoUsd += Math.max(0, share - (used?.nanoUsd ?? (isFree ? 0 : share)));
  }
}
