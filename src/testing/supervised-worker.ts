import { startWorkerProcess, type WorkerProcess, type WorkerProcessOptions } from "./worker-process.ts";

export type SupervisedWorkerOptions = WorkerProcessOptions & {
  /** Told of each process that has become ready, the first included. */
  readonly onReady?: ((worker: WorkerProcess) => void) | undefined;
  /** Told when no process can be started any more: supervision has ended. */
  readonly onFailure?: ((error: Error) => void) | undefined;
};

export type SupervisedWorker = {
  /** The process that runs now; while one starts, the one before. */
  current(): WorkerProcess;
  /** Kills the process that runs; resolves when its successor is ready. */
  kill(signal?: NodeJS.Signals): Promise<WorkerProcess>;
  /** How often it was started again. */
  restarts(): number;
  /** Ends it for good. */
  stop(): Promise<void>;
};

/** A worker process that is started again at once whenever it dies. */
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
