import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startProgram } from "./process.mjs";

const WORKER = fileURLToPath(new URL("../../../dist/worker.js", import.meta.url));
const ARM = new URL("arm-kill-point.mjs", import.meta.url).href;
const TOOLS = fileURLToPath(new URL("tools.mjs", import.meta.url));

/** What a worker says that is started while the server is away. */
const NO_SERVER = "No Temporal server can be reached";

/** A worker that ends by itself more often than this will not be better the next time. */
const MAX_UNEXPECTED_EXITS = 3;

/** Keeps one worker alive: whenever it dies, the next is started at once, until the list of kills is at its end. */
export class WorkerSupervisor {
  #options;
  #current;
  #stopping = false;
  /** Ends that nobody has asked for. */
  ownEnds = [];

  /**
   * @param options.kills - Where each life ends, `POINT:NTH`; those behind the last one live.
   * @param options.serverBackAtMs - Since when the server is there. A worker that began before, and says that it found none,
   *   has ended as it should: it is started again.
   * @param options.tools - The module of the workers' tools, if not the campaign's.
   * @param options.onDeath - Told of a life's number and its id, undefined before it was ready, right behind its end.
   */
  constructor(options) {
    this.#options = options;
  }

  /** Resolves when a worker is ready, maybe not the first one. */
  async start() {
    this.#startProcess(0);
    await this.ready();
  }

  async ready() {
    for (;;) {
      const worker = this.#current;
      try {
        return await worker.program.ready;
      } catch (error) {
        if (worker === this.#current && this.#stopping) throw error;
        if (this.ownEnds.length >= MAX_UNEXPECTED_EXITS) throw error;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  }

  get pid() {
    return this.#current.program.pid;
  }

  signal(signal) {
    this.#current.program.signal(signal);
  }

  async stop(signal) {
    this.#stopping = true;
    return await this.#current.program.end(signal);
  }

  #startProcess(life) {
    const {
      address,
      namespace,
      home,
      taskQueue,
      kills = [],
      killLog,
      log,
      env,
      flags = [],
      tools = TOOLS,
      onDeath,
      serverBackAtMs = () => 0,
    } = this.#options;
    const kill = kills[life];
    const beganAtMs = Date.now();
    const logged = readBytes(log).length;
    const program = startProgram(WORKER, {
      args: [
        "--address",
        address,
        "--namespace",
        namespace,
        "--home",
        home,
        "--task-queue",
        taskQueue,
        "--tools",
        tools,
      ],
      flags: ["--import", ARM, ...flags],
      env: { HOLDFAST_KILL_LOG: killLog, HOLDFAST_KILL_AT: kill ?? "", HOLDFAST_LOG: "info", ...env },
      log,
    });
    this.#current = { life, program };
    let id;
    program.ready.then(
      (line) => {
        id = line.id;
      },
      () => {},
    );
    program.ended.then(({ code, signal }) => {
      if (this.#stopping) return;
      const foundNoServer =
        id === undefined &&
        beganAtMs < serverBackAtMs() &&
        readBytes(log).subarray(logged).includes(NO_SERVER);
      if (signal !== "SIGKILL" && !foundNoServer)
        this.ownEnds.push(`life ${life} ended by itself: ${signal ?? `exit code ${code}`}`);
      onDeath?.({ life, id, pid: program.pid, kill });
      if (this.ownEnds.length < MAX_UNEXPECTED_EXITS) this.#startProcess(life + 1);
    });
  }
}

function readBytes(file) {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
