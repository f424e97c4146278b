import { setTimeout as delay } from "node:timers/promises";
import { computePauseMs } from "../../platform/async/back-off.ts";
import { endWorker, type WorkerChild, type WorkerEnd, type WorkerReady } from "./worker-child.ts";

export type WorkerEvent =
  | { readonly type: "worker-ready"; readonly ready: WorkerReady }
  | { readonly type: "worker-died"; readonly end: WorkerEnd; readonly restartInMs: number };

/** A worker that polled for this long is restarted immediately when it dies. */
const MIN_HEALTHY_MS = 10_000;
const BACK_OFF = { firstMs: 250, longestMs: 10_000 };
/** After this many starts without ever becoming ready, further starts do not help. */
const MAX_STARTS_BEFORE_READY = 3;

/** Returns the delay before the next start: none after a long life, doubled after each short one. */
export function getRestartDelayMs(shortLives: number): number {
  return shortLives === 0 ? 0 : computePauseMs(BACK_OFF, shortLives);
}

/** Supervises one worker: restarts it when it dies. */
export class WorkerSupervisor {
  readonly #spawn: () => WorkerChild;
  readonly #report: (event: WorkerEvent) => void;
  readonly #stopping = new AbortController();
  #child: WorkerChild | undefined;
  #loop: Promise<void> | undefined;

  constructor(spawn: () => WorkerChild, tell: (event: WorkerEvent) => void) {
    this.#spawn = spawn;
    this.#report = tell;
  }

  /** Resolves when the worker polls; `undefined` if every start ended before that. */
  start(): Promise<WorkerReady | undefined> {
    return new Promise((resolve) => {
      this.#loop = this.#supervise(resolve);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#child !== undefined) await endWorker(this.#child);
    await this.#loop;
  }

  /** Makes a draining worker release its running steps immediately. */
  skipRestartDelay(): void {
    this.#child?.process.kill("SIGTERM");
  }

  async #supervise(first: (ready: WorkerReady | undefined) => void): Promise<void> {
    let shortLives = 0;
    let wasReady = false;
    while (!this.#stopping.signal.aborted) {
      const child = this.#spawn();
      this.#child = child;
      const ready = await child.ready;
      const readyAt = ready === undefined ? undefined : Date.now();
      if (ready !== undefined) {
        wasReady = true;
        this.#report({ type: "worker-ready", ready });
        first(ready);
      }
      const end = await child.ended;
      this.#child = undefined;
      if (this.#stopping.signal.aborted) break;
      const healthy = readyAt !== undefined && Date.now() - readyAt >= MIN_HEALTHY_MS;
      shortLives = healthy ? 0 : shortLives + 1;
      if (!wasReady && shortLives >= MAX_STARTS_BEFORE_READY) break;
      // The first restart has no delay: most causes of death do not repeat.
      const restartInMs = getRestartDelayMs(Math.max(0, shortLives - 1));
      this.#report({ type: "worker-died", end, restartInMs });
      await delay(restartInMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
    first(undefined);
  }
}
