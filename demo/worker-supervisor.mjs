import { fileURLToPath } from "node:url";
import { startChild } from "./child.mjs";

const WORKER = fileURLToPath(new URL("../dist/worker.js", import.meta.url));

/** After this many unexpected ends, further starts do not help. */
const MAX_UNEXPECTED_EXITS = 3;

/** Supervises one worker process: whenever it dies, starts the next immediately. */
export class WorkerSupervisor {
  #options;
  #worker;
  #stopping = false;
  #unexpectedExits = 0;
  #fail;
  /** Rejects when workers repeatedly end by themselves. */
  failed = new Promise((_, reject) => {
    this.#fail = reject;
  });

  /** @param options.onReady, options.onOwnEnd - Called for each worker that becomes ready, or ends by itself. */
  constructor(options) {
    this.#options = options;
    this.failed.catch(() => {});
  }

  async start() {
    this.#startProcess(1);
    await Promise.race([this.#worker.ready, this.failed]);
  }

  /** Sends SIGKILL, which allows no clean-up. Returns the killed worker and the time when the process has ended. */
  async kill() {
    const worker = this.#worker;
    const { id } = await worker.ready;
    worker.struck = true;
    const atMs = Date.now();
    worker.child.kill();
    await worker.child.ended;
    return { atMs, id, number: worker.number, pid: worker.child.pid };
  }

  async stop() {
    this.#stopping = true;
    await this.#worker?.child.stop();
  }

  #startProcess(number) {
    const { args, env, log, onReady, onOwnEnd } = this.#options;
    const child = startChild(WORKER, args, { env, log });
    const worker = { number, child, ready: child.ready, struck: false };
    this.#worker = worker;
    worker.ready.then(
      () => this.#stopping || onReady(worker.number, child.pid),
      () => {},
    );
    child.ended.then(([code, signal]) => {
      if (this.#stopping) return;
      if (!worker.struck) {
        onOwnEnd(worker.number, signal ?? `exit code ${code}`);
        this.#unexpectedExits += 1;
        if (this.#unexpectedExits >= MAX_UNEXPECTED_EXITS)
          return this.#fail(new Error(`Workers have ended ${this.#unexpectedExits} times by themselves`));
      }
      this.#startProcess(number + 1);
    });
  }
}
