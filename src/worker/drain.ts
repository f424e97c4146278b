import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { Logger } from "../platform/log.ts";

// The shutdown of a worker: it logs what it waits for, and releases what does not end in time.

/** How often it logs what it still waits for. */
const LOG_INTERVAL_MS = 5000;

/** How long cancelled steps may take to end their processes and to report that; then they are released as they are. */
const CANCEL_TIMEOUT_MS = 8000;

/** The number of steps that the log names; the others are counted. */
const MAX_NAMED = 5;

type RunningStep = {
  readonly type: string;
  readonly workflow: string;
  readonly sinceMs: number;
  readonly release: () => void;
};

/** Tracks the steps that a worker runs, except local ones, which end within seconds. */
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

  /** The interceptor for the worker: each step passes through it. */
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

  /** Starts the shutdown: no new work arrives from now on. */
  begin(): void {
    if (this.#startedMs !== undefined) return;
    this.#startedMs = Date.now();
    this.#logProgress("Asked to end: no new work");
    this.#timers.push(
      setInterval(() => this.#logProgress("Shutting down"), LOG_INTERVAL_MS).unref(),
      setTimeout(() => this.releaseNow(), this.#drainMs + CANCEL_TIMEOUT_MS).unref(),
    );
  }

  /** Releases all running steps at once: other workers take them over as if this process had died. */
  releaseNow(): void {
    this.begin();
    if (this.#running.size === 0) return;
    this.#log.warn({ running: this.#running.size }, `Releasing at once: ${this.#formatSteps()}`);
    for (const step of [...this.#running]) step.release();
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#finished + this.#released === 0) return;
    const [finished, handedBack] = [this.#finished, this.#released];
    this.#log.warn({ finished, handedBack }, `Ended: ${finished} steps finished, ${handedBack} released`);
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
    const left = leftMs === 0 ? "the time has run out" : `${Math.ceil(leftMs / 1000)} s remain`;
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

const RELEASED = "released";

/** Builds the failure of a released step. If Temporal itself dispatches the step again, the workflow need not know. */
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
