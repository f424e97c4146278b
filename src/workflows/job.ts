import { ActivityFailure, ApplicationFailure } from "@temporalio/common";
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  patched,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { orNoLimit } from "../core/budget/limits.ts";
import { beginPart, endPart, type JobState, openJob, refusePart } from "../core/job/job.ts";
import { type JobResult, jobResult } from "../core/job/job-result.ts";
import { jobDashboard, jobStatus, type Rounds } from "../core/job/job-status.ts";
import { lostBy, MAX_LOST_IN_A_ROW } from "../core/machine/issue.ts";
import type { PartEnd } from "../core/machine/task.ts";
import { shownBriefly } from "../platform/text/redact.ts";
import type { JobLimits } from "../schema/mode.ts";
import type { Outcome } from "../schema/record.ts";
import { isWords, type RunSettings, type StartRequest } from "./input.ts";
import { statusQuery, stopSignal, type Words } from "./messages.ts";
import { runPart } from "./part.ts";
import { PATCHES } from "./patches.ts";
import { orFailed } from "./result.ts";
import { setbackOf } from "./set-back.ts";
import { showcaseOf } from "./shown.ts";

type Opening = Parameters<typeof openJob>[0];

/** A job at work: its state, what people may send it, and its parts, which are runs of agents below it. */
export class JobRun {
  state: JobState;
  /** Of an autonomous agent. */
  rounds: Rounds | undefined;
  readonly settings: RunSettings;
  readonly #work = new CancellationScope();
  /** Around the step that asks an application, while there is one. */
  #step: CancellationScope | undefined;
  readonly #show: (state: { readonly job: JobState; readonly rounds: Rounds | undefined }) => void;

  constructor(initial: JobState, settings: RunSettings, outside: CancellationScope | undefined) {
    this.state = initial;
    this.settings = settings;
    this.#show = showcaseOf(settings.searchAttributes, {
      details: ({ job, rounds }) => jobDashboard(job, Date.now(), rounds),
      status: ({ job, rounds }) => jobStatus(job, Date.now(), rounds),
    });
    setHandler(
      stopSignal,
      (reason) => this.#stop(typeof reason === "string" ? reason : "stop was requested"),
      {
        description: "Ends the job: its parts are stopped, and it gives what there is",
      },
    );
    setHandler(statusQuery, () => jobStatus(this.state, Date.now(), this.rounds), {
      description: "Where the job stands",
    });
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
    this.#show({ job: this.state, rounds: this.rounds });
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
    const { name, agent, session } = this.state.parts[index]!;
    const begun = beginPart(this.state, index, waiting, Date.now());
    if (begun.type === "refused") {
      this.change(refusePart(this.state, index, begun.reason));
      return { type: "refused", outcome: { type: "limit-reached", reason: begun.reason } };
    }
    this.change(begun.state);
    const start: StartRequest = { ...request, share: begun.given, settings: this.settings };
    const label = name === agent ? name : `${name} · ${agent}`;
    const end = await this.#work.run(() => runPart(session, start, label));
    this.change(endPart(this.state, index, begun.share, end));
    return end;
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
    if (this.state.stop !== undefined) return;
    this.change({ stop: { reason } });
    this.#work.cancel();
    if (this.#step !== undefined && patched(PATCHES.stopEndsOwnSteps)) this.#step.cancel();
  }
}

/** Gives a job its scope: nothing but its own `stop` ends it, and a cancellation is one. */
export function asJob(
  drive: (outside: CancellationScope | undefined) => Promise<JobResult>,
): Promise<JobResult> {
  return CancellationScope.nonCancellable(() => drive(CancellationScope.current().parent));
}

const GOAL_BYTES = 253;

type Requested = {
  readonly task?: Words;
  readonly limits?: Partial<JobLimits>;
  readonly settings?: Partial<RunSettings>;
};

/** The job of a request, before its first part. */
export function opened(mode: Opening["mode"], request: Requested, parts: Opening["parts"]): JobState {
  return openJob({
    job: workflowInfo().workflowId,
    mode,
    goal: request.settings?.words === "none" ? "" : shownBriefly(wordsOf(request.task), GOAL_BYTES),
    parts,
    limits: orNoLimit(request.limits),
    nowMs: Date.now(),
  });
}

function wordsOf(task: Words | undefined): string {
  return (typeof task === "string" ? task : task?.text) ?? "";
}

/** A request that somebody has typed may be anything: what is wrong with it is said, and the job ends. */
export function mustBe(right: boolean, what: string): void {
  if (right) return;
  throw ApplicationFailure.nonRetryable(`The job cannot begin: ${what}`, "holdfast/invalid-request");
}

export function mustHaveTask(task: unknown): void {
  mustBe(isWords(task), "`task` must be a text, or an object with `text` or `ref`");
}

/** A step of the job's own, made again where its worker was lost: three times in a row at most. */
export function throughLosses<Result>(step: () => Promise<Result>, lost = 0): Promise<Result> {
  return step().catch((error: unknown) => {
    if (!(error instanceof ActivityFailure)) throw error;
    const setback = setbackOf(error, false);
    if (setback.type !== "lost" || !patched(PATCHES.jobStepsAgain)) throw error;
    const now = lostBy(lost, setback);
    if (now >= MAX_LOST_IN_A_ROW) throw error;
    return throughLosses(step, now);
  });
}

/** What a step of the job's own failed with. */
export function failureOf(error: unknown): Outcome {
  if (!(error instanceof ActivityFailure)) throw error;
  const setback = setbackOf(error, false);
  if (setback.type === "failed") return { type: "failed", ...setback.failure };
  return { type: "failed", fault: setback.type, message: error.message };
}
