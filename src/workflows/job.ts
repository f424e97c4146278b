import {
  allHandlersFinished,
  CancellationScope,
  condition,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import type { Allowance } from "../core/budget/amounts.ts";
import type { Reservation } from "../core/budget/reserve.ts";
import { type JobPart, type JobState, type openJob, requestStop } from "../core/job/job.ts";
import { jobDashboard, MOST_ROWS } from "../core/job/job-dashboard.ts";
import { type JobResult, jobResult } from "../core/job/job-result.ts";
import { type JobStatus, jobStatus, type ModeStatus } from "../core/job/job-status.ts";
import { beginPart, endPart, reserveShares, type ShareRequest } from "../core/job/parts.ts";
import { orNoLimit } from "../core/limits.ts";
import { shownBriefly } from "../core/redact.ts";
import type { PartEnd } from "../core/task.ts";
import type { JobLimits } from "../schema/mode.ts";
import type { Outcome } from "../schema/record.ts";
import type { RunSettings, StartRequest } from "./input.ts";
import { statusQuery, stopSignal, type Words } from "./messages.ts";
import { type PartRun, startRun } from "./part.ts";
import { orFailed } from "./result.ts";
import { showcaseOf } from "./shown.ts";

/** What a mode shows of itself, beside what is shown of any job. */
type Showing = {
  readonly status?: (state: JobState) => ModeStatus;
  /** Lines of the dashboard. */
  readonly lines?: readonly (readonly [string, string])[];
  /** What `stop` and `status` do, for the Temporal UI. */
  readonly descriptions?: { readonly stop: string; readonly status: string };
};

const DESCRIPTIONS = {
  stop: "Ends the job: its parts are stopped, and it gives what there is",
  status: "Where the job stands",
};

/**
 * The driver of all agents that work under a parent: a job's state, its parts as children, its stop, its status and its
 * dashboard. Which part runs when, with what, and what becomes of the answers is for the strategy above it.
 */
export class JobRun {
  state: JobState;
  readonly settings: RunSettings;
  /** Around all parts: cancelling it stops them. */
  readonly #work = new CancellationScope();
  /** Around the step that asks an application, while there is one. */
  #step: CancellationScope | undefined;
  readonly #status: (state: JobState) => ModeStatus;
  readonly #show: (status: JobStatus) => void;

  constructor(
    initial: JobState,
    settings: RunSettings,
    outside: CancellationScope | undefined,
    { status = () => ({}), lines = [], descriptions = DESCRIPTIONS }: Showing = {},
  ) {
    this.state = initial;
    this.settings = settings;
    this.#status = status;
    this.#show = showcaseOf<JobStatus>(settings.searchAttributes, {
      details: (shown) => jobDashboard(shown, lines),
      status: (shown) => shown,
    });
    const stop = (reason: unknown) => this.#stop(typeof reason === "string" ? reason : "stop was requested");
    setHandler(stopSignal, stop, { description: descriptions.stop });
    setHandler(statusQuery, () => this.#now(), { description: descriptions.status });
    outside?.cancelRequested.catch(() => this.#stop("the workflow was cancelled"));
    this.show();
  }

  get stopped(): Outcome | undefined {
    const { stop } = this.state;
    return stop === undefined ? undefined : { type: "stopped", reason: stop.reason };
  }

  change(state: Partial<JobState>): void {
    this.state = { ...this.state, ...state };
    this.show();
  }

  show(): void {
    this.#show(this.#now(MOST_ROWS));
  }

  #now(mostParts?: number): JobStatus {
    return jobStatus(this.state, this.#status(this.state), Date.now(), mostParts);
  }

  /** Calls `work` for each of so many parts in turn, for at most `concurrency` of them side by side. */
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
   * Runs one part to its end. Refused when there is nothing left to spend.
   *
   * @param waiting - Parts that want to begin too, this one among them.
   */
  async part(
    index: number,
    request: Omit<StartRequest, "share" | "settings">,
    waiting = 1,
  ): Promise<PartEnd | { readonly type: "refused"; readonly outcome: Outcome }> {
    const begun = beginPart(this.state, index, waiting, Date.now());
    this.change(begun.state);
    if (begun.type === "refused") {
      return { type: "refused", outcome: { type: "limit-reached", reason: begun.reason } };
    }
    return await this.start(index, request, begun.given).end;
  }

  /** Sets shares aside for parts that begin together: see `reserveShares`. */
  reserve(asked: readonly ShareRequest[], keep: 0 | 1 = 0): readonly Reservation[] {
    const { state, reservations } = reserveShares(this.state, asked, Date.now(), keep);
    this.state = state;
    return reservations;
  }

  /** The run of a part that has begun, and its end in the state. */
  start(
    index: number,
    request: Omit<StartRequest, "share" | "settings">,
    share: Allowance,
    settles: "always" | "when-known" = "always",
  ): PartRun {
    const part = this.state.parts[index]!;
    const { session, workflow = session } = part;
    const whole: StartRequest = { ...request, share, settings: this.settings };
    let started: Promise<unknown> = Promise.resolve();
    const end = this.#work.run(() => {
      const run = startRun(workflow, whole, labelOf(part));
      started = run.started;
      return run.end;
    });
    return {
      started,
      end: end.then((how) => {
        this.change(endPart(this.state, index, how, Date.now(), settles));
        return how;
      }),
    };
  }

  /** Stops the parts that are at work. */
  stopParts(): void {
    this.#work.cancel();
  }

  /** A step of the job's own that asks an application; a stop ends it. Whoever asks for it looks at `stopped` behind it. */
  async step<Result>(work: () => Promise<Result>): Promise<Result> {
    const step = new CancellationScope();
    this.#step = step;
    return await step.run(work).finally(() => {
      this.#step = undefined;
    });
  }

  /** The job's last word. One that failed fails as a workflow too, so that an operator sees it. */
  async end(outcome: Outcome, more: Parameters<typeof jobResult>[2] = {}): Promise<JobResult> {
    this.change({ outcome });
    await condition(allHandlersFinished);
    return orFailed(jobResult(this.state, outcome, more));
  }

  #stop(reason: string): void {
    const stopped = requestStop(this.state, reason);
    if (stopped === this.state) return;
    this.change(stopped);
    this.#work.cancel();
    this.#step?.cancel();
  }
}

/** What the timeline calls a part: `edit · editor`, `scout-1 · Look around`, `branch-1 · small · claude-haiku-4-5`. */
function labelOf({ name, agent, task, model }: JobPart): string {
  const said = [task ?? (agent === name ? "" : agent), model ?? ""];
  return [name, ...said.filter((words) => words !== "")].join(" · ");
}

/** Gives a job its scope: nothing but its own `stop` ends it, and a cancellation is one. */
export function asJob<Result>(
  drive: (outside: CancellationScope | undefined) => Promise<Result>,
): Promise<Result> {
  return CancellationScope.nonCancellable(() => drive(CancellationScope.current().parent));
}

const GOAL_BYTES = 253;

type JobRequest = {
  readonly task?: Words;
  readonly limits?: Partial<JobLimits>;
  readonly settings?: Partial<RunSettings>;
};

/** What any job of a request is opened with. */
export function openingOf({
  task,
  limits,
  settings,
}: JobRequest): Omit<Parameters<typeof openJob>[0], "mode" | "parts"> {
  const words = (typeof task === "string" ? task : task?.text) ?? "";
  return {
    job: workflowInfo().workflowId,
    goal: settings?.words === "none" ? "" : shownBriefly(words, GOAL_BYTES),
    limits: orNoLimit(limits),
    nowMs: Date.now(),
  };
}
