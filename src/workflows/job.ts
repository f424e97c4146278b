import {
  allHandlersFinished,
  CancellationScope,
  condition,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import type { Allowance } from "../core/budget/account-state.ts";
import { fillLimits } from "../core/budget/limits.ts";
import type { Reservation } from "../core/budget/reserve.ts";
import {
  getStopOutcome,
  type JobOpening,
  type JobPart,
  type JobState,
  requestStop,
} from "../core/job/job.ts";
import { jobDashboard, MOST_ROWS } from "../core/job/job-dashboard.ts";
import { buildJobResult, type JobResult, type JobResultDetails } from "../core/job/job-result.ts";
import { buildJobStatus, type JobStatus, type ModeStatus } from "../core/job/job-status.ts";
import { beginPart, endPart, reserveShares, type ShareRequest } from "../core/job/parts.ts";
import type { PartEnd } from "../core/machine/task.ts";
import { redactPreview } from "../platform/text/redact.ts";
import type { JobLimits } from "../schema/mode.ts";
import type { Outcome } from "../schema/record.ts";
import { type MessageInput, statusQuery, stopSignal } from "./messages.ts";
import { type PartRun, startRun } from "./part.ts";
import type { RunSettings, StartRequest } from "./run-input.ts";
import { throwIfFailed } from "./run-result.ts";
import { createPublisher } from "./status-publisher.ts";

/** What a mode displays in addition to what every job displays. */
type Showing = {
  readonly status?: (state: JobState) => ModeStatus;
  /** Lines of the dashboard. */
  readonly lines?: readonly (readonly [string, string])[];
  /** Descriptions of `stop` and `status` for the Temporal UI. */
  readonly descriptions?: { readonly stop: string; readonly status: string };
};

const DESCRIPTIONS = {
  stop: "Ends the job: stops its parts and returns the results so far",
  status: "Reports the state of the job",
};

/**
 * Drives all agents that work under a parent: holds a job's state, runs its parts as children, and handles its stop,
 * status and dashboard. The strategy above it decides which part runs when, with what, and what happens to the
 * answers.
 */
export class JobRun {
  state: JobState;
  readonly settings: RunSettings;
  /** The scope of all parts: cancelling it stops them. */
  readonly #workScope = new CancellationScope();
  /** The scope of the step that calls an application, while there is one. */
  #stepScope: CancellationScope | undefined;
  readonly #status: (state: JobState) => ModeStatus;
  readonly #publish: (status: JobStatus) => void;

  constructor(
    initial: JobState,
    settings: RunSettings,
    outside: CancellationScope | undefined,
    { status = () => ({}), lines = [], descriptions = DESCRIPTIONS }: Showing = {},
  ) {
    this.state = initial;
    this.settings = settings;
    this.#status = status;
    this.#publish = createPublisher<JobStatus>(settings.searchAttributes, {
      details: (shown) => jobDashboard(shown, lines),
      status: (shown) => shown,
    });
    const stop = (reason: unknown) => this.#stop(typeof reason === "string" ? reason : "stop was requested");
    setHandler(stopSignal, stop, { description: descriptions.stop });
    setHandler(statusQuery, () => this.#now(), { description: descriptions.status });
    outside?.cancelRequested.catch(() => this.#stop("the workflow was cancelled"));
    this.publish();
  }

  get stopOutcome(): Outcome | undefined {
    return getStopOutcome(this.state);
  }

  update(state: Partial<JobState>): void {
    this.state = { ...this.state, ...state };
    this.publish();
  }

  publish(): void {
    this.#publish(this.#now(MOST_ROWS));
  }

  #now(mostParts?: number): JobStatus {
    return buildJobStatus(this.state, this.#status(this.state), Date.now(), mostParts);
  }

  /** Calls `work` for each of `parts` indexes in order, with at most `concurrency` calls at a time. */
  async forEachPart(
    parts: number,
    concurrency: number,
    work: (index: number) => Promise<unknown>,
  ): Promise<void> {
    let next = 0;
    const takeTurns = async (): Promise<void> => {
      while (next < parts) {
        const index = next;
        next += 1;
        await work(index);
      }
    };
    const lanes = Math.max(1, Math.min(concurrency, parts));
    await Promise.all(Array.from({ length: lanes }, takeTurns));
  }

  /**
   * Runs one part to its end. The part does not start when no budget remains, or after a stop.
   *
   * @param waiting - The number of parts that wait to start, including this one.
   */
  async runPart(
    index: number,
    request: Omit<StartRequest, "share" | "settings">,
    waiting = 1,
  ): Promise<PartEnd | { readonly type: "denied"; readonly outcome: Outcome }> {
    const begun = beginPart(this.state, index, waiting, Date.now());
    this.update(begun.state);
    if (begun.type === "denied") return { type: "denied", outcome: begun.outcome };
    return await this.start(index, request, begun.allocation).end;
  }

  /** Reserves shares for parts that start together: see `reserveShares`. */
  reserve(asked: readonly ShareRequest[], keep: 0 | 1 = 0): readonly Reservation[] {
    const { state, reservations } = reserveShares(this.state, asked, Date.now(), keep);
    this.state = state;
    return reservations;
  }

  /** Starts the run of a part that has begun, and records its end in the state. */
  start(
    index: number,
    request: Omit<StartRequest, "share" | "settings">,
    share: Allowance,
    settles?: "when-known",
  ): PartRun {
    const part = this.state.parts[index]!;
    const { session, workflow = session } = part;
    const whole: StartRequest = { ...request, share, settings: this.settings };
    let started: Promise<unknown> = Promise.resolve();
    const end = this.#workScope.run(() => {
      const run = startRun(workflow, whole, formatLabel(part));
      started = run.started;
      return run.end;
    });
    return {
      started,
      end: end.then((how) => {
        this.update(endPart(this.state, index, how, Date.now(), settles));
        return how;
      }),
    };
  }

  /** Stops the parts that run. */
  stopParts(): void {
    this.#workScope.cancel();
  }

  /**
   * Runs a step of the job itself that calls an application. A stop cancels the step. The caller checks `stopOutcome`
   * afterwards.
   */
  async runStep<Result>(work: () => Promise<Result>): Promise<Result> {
    const step = new CancellationScope();
    this.#stepScope = step;
    return await step.run(work).finally(() => {
      this.#stepScope = undefined;
    });
  }

  /** Ends the job. A failed job also fails as a workflow, so that an operator sees the failure. */
  async end(outcome: Outcome, more: JobResultDetails = {}): Promise<JobResult> {
    this.update({ outcome });
    await condition(allHandlersFinished);
    return throwIfFailed(buildJobResult(this.state, outcome, more));
  }

  #stop(reason: string): void {
    const stopped = requestStop(this.state, reason);
    if (stopped === this.state) return;
    this.update(stopped);
    this.#workScope.cancel();
    this.#stepScope?.cancel();
  }
}

/**
 * Formats the label of a part in the timeline: `edit · editor`, `scout-1 · Look around`, `branch-1 · small ·
 * claude-haiku-4-5`.
 */
function formatLabel({ name, agent, task, model }: JobPart): string {
  const said = [task ?? (agent === name ? "" : agent), model ?? ""];
  return [name, ...said.filter((words) => words !== "")].join(" · ");
}

/**
 * Runs a job in a scope of its own: only the job's own `stop` ends it, and a cancellation of the workflow counts as a
 * stop.
 */
export function runAsJob<Result>(
  run: (outside: CancellationScope | undefined) => Promise<Result>,
): Promise<Result> {
  return CancellationScope.nonCancellable(() => run(CancellationScope.current().parent));
}

const GOAL_BYTES = 253;

type JobRequest = {
  readonly task?: MessageInput;
  readonly limits?: Partial<JobLimits>;
  readonly settings?: Partial<RunSettings>;
};

/** Builds what every job's state is opened with. */
export function buildOpening({ task, limits, settings }: JobRequest): Omit<JobOpening, "mode" | "parts"> {
  const words = (typeof task === "string" ? task : task?.text) ?? "";
  return {
    job: workflowInfo().workflowId,
    goal: settings?.redactContent === true ? "" : redactPreview(words, GOAL_BYTES),
    limits: fillLimits(limits),
    nowMs: Date.now(),
  };
}
