import { startWorkerProcess, type WorkerProcess, type WorkerProcessOptions } from "./worker-process.ts";

/** How the worker process is started, and what is reported of it. */
export type SupervisedWorkerOptions = WorkerProcessOptions & {
  /** Called for each process that becomes ready, including the first. */
  readonly onReady?: ((worker: WorkerProcess) => void) | undefined;
  /** Called when no process can be started: supervision has ended. */
  readonly onFailure?: ((error: Error) => void) | undefined;
};

/** A worker process that is started again whenever it dies. */
export type SupervisedWorker = {
  /** The current process; while a process starts, the previous one. */
  current(): WorkerProcess;
  /** Kills the current process; resolves when its successor is ready. */
  kill(signal?: NodeJS.Signals): Promise<WorkerProcess>;
  /** How often the worker was restarted. */
  restarts(): number;
  /** Ends the worker and its supervision. */
  stop(): Promise<void>;
};

/** Starts a worker process that is restarted immediately whenever it dies. */
export async function superviseWorker(options: SupervisedWorkerOptions): Promise<SupervisedWorker> {
  let worker = await startWorkerProcess(options);
  let restarts = 0;
  let stopping = false;
  let successor: Promise<WorkerProcess>;
  options.onReady?.(worker);

  const watchWorker = (watched: WorkerProcess): Promise<WorkerProcess> => {
    const following = watched.exited.then(async () => {
      if (stopping) return watched;
      const started = await startWorkerProcess(options);
      if (stopping) {
        await started.kill();
        return started;
      }
      worker = started;
      restarts += 1;
      successor = watchWorker(started);
      options.onReady?.(started);
      return started;
    });
    following.catch((error: Error) => options.onFailure?.(error));
    return following;
  };
  successor = watchWorker(worker);

  return {
    current: () => worker,
    kill: async (signal = "SIGKILL") => {
      const next = successor;
      await worker.kill(signal);
      return await next;
    },
    restarts: () => restarts,
    stop: async () => {
      stopping = true;
      const last = successor;
      await worker.kill("SIGKILL");
      await last.catch(() => undefined);
    },
  };
}
