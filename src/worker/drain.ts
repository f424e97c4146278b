import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { Logger } from "../platform/log.ts";

// What a worker does when it is asked to end: it says what it waits for, and hands back what does not end in time.

/** How often it says what it still waits for. */
const LOG_INTERVAL_MS = 5000;

/** What was cancelled may take this long to end its processes and to say so; then it is handed back as it stands. */
const CANCEL_TIMEOUT_MS = 8000;

/** Steps that are named; the others are counted. */
const MAX_NAMED = 5;

type RunningStep = {
  readonly type: string;
  readonly workflow: string;
  readonly sinceMs: number;
  readonly release: () => void;
};

/** Knows the steps that a worker has under way; local ones, which are over in seconds, are left alone. */
export class Drain {
  readonly #drainMs: number;
  readonly #log: Logger;
  readonly #running = new Set<RunningStep>();
  readonly #timers: NodeJS.Timeout[] = [];
  #startedMs: number | undefined;
  #finished = 0;
  #released = 0;

  constructor(drainMs: number, log: Logger) {
    this.#drainMs = drainMs;
    this.#log = log;
  }

  /** For the worker: each step passes through here. */
  readonly interceptor: ActivityInterceptorsFactory = ({ info }) => ({
    inbound: {
      execute: (input, next) => {
        if (info.isLocal) return next(input);
        const { activityType: type, workflowExecution, retryPolicy } = info;
        const mayRetry = (retryPolicy?.maximumAttempts ?? 1) === 0;
        return this.#runStep(type, workflowExecution?.workflowId ?? "", mayRetry, () => next(input));
      },
    },
  });

  /** No new work comes from now on. */
  begin(): void {
    if (this.#startedMs !== undefined) return;
    this.#startedMs = Date.now();
    this.#logProgress("Asked to end: no new work");
    this.#timers.push(
      setInterval(() => this.#logProgress("Ending"), LOG_INTERVAL_MS).unref(),
      setTimeout(() => this.releaseNow(), this.#drainMs + CANCEL_TIMEOUT_MS).unref(),
    );
  }

  /** Hands back at once what is under way: others take it over as if this process had died. */
  releaseNow(): void {
    this.begin();
    if (this.#running.size === 0) return;
    this.#log.warn({ running: this.#running.size }, `Handing back at once: ${this.#formatSteps()}`);
    for (const step of [...this.#running]) step.release();
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#finished + this.#released === 0) return;
    const [finished, handedBack] = [this.#finished, this.#released];
    this.#log.warn({ finished, handedBack }, `Ended: ${finished} steps finished, ${handedBack} handed back`);
  }

  async #runStep(
    type: string,
    workflow: string,
    mayRetry: boolean,
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    let step: RunningStep | undefined;
    try {
      const result = await new Promise((resolve, reject) => {
        step = { type, workflow, sinceMs: Date.now(), release: () => reject(buildReleasedFailure(mayRetry)) };
        this.#running.add(step);
        work().then(resolve, reject);
      });
      if (this.#startedMs !== undefined) this.#finished += 1;
      return result;
    } catch (error) {
      if (this.#startedMs !== undefined) {
        if (isReleased(error)) this.#released += 1;
        else this.#finished += 1;
      }
      throw error;
    } finally {
      if (step !== undefined) this.#running.delete(step);
    }
  }

  #logProgress(what: string): void {
    const running = this.#running.size;
    if (running === 0) return;
    const leftMs = Math.max(0, this.#drainMs - (Date.now() - (this.#startedMs ?? 0)));
    const left = leftMs === 0 ? "its time is up" : `${Math.ceil(leftMs / 1000)} s are left`;
    this.#log.warn({ running, leftMs }, `${what}; ${left} for ${this.#formatSteps()}`);
  }

  #formatSteps(): string {
    const steps = [...this.#running];
    const named = steps.slice(0, MAX_NAMED).map(({ type, workflow, sinceMs }) => {
      return `${type} of ${workflow} (for ${Math.round((Date.now() - sinceMs) / 1000)} s)`;
    });
    const more = steps.length - named.length;
    return `${named.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
  }
}

const RELEASED = "handed-back";

/** A step that Temporal itself gives out again needs no word with the workflow. */
function buildReleasedFailure(mayRetry: boolean): ApplicationFailure {
  return ApplicationFailure.create({
    type: RELEASED,
    message: "The worker was asked to end",
    nonRetryable: !mayRetry,
    ...(mayRetry ? { nextRetryDelay: 1 } : {}),
  });
}

function isReleased(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === RELEASED;
}
