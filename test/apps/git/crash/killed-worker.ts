import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolveBuiltFile } from "../../../../src/testing/built-file.ts";
import { eventually } from "../../../support/eventually.ts";
import { copyTranscript, countAnswers } from "./stored-answers.ts";
import type { StoredAnswers } from "./vendor.ts";

type Supervisor = {
  start(): Promise<void>;
  ready(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  stop(signal: NodeJS.Signals): Promise<unknown>;
  readonly ownEnds: readonly string[];
};

// @ts-expect-error A script without types.
const { WorkerSupervisor } = (await import("../../../crash/campaign/worker-supervisor.mjs")) as {
  WorkerSupervisor: new (options: Readonly<Record<string, unknown>>) => Supervisor;
};

export type WorkerTarget = {
  readonly address: string;
  readonly namespace: string;
  readonly home: string;
  readonly taskQueue: string;
};

/** The kill points at which the processes of a worker die during one run, in order: `POINT:NTH`. */
export type WorkerKills = readonly string[];

/** A worker with the git tools whose processes are killed, run by run, and replaced at once. */
export class KilledWorker {
  readonly #home: string;
  readonly #supervisor: Supervisor;
  #lives = 1;
  #kills: WorkerKills = [];
  #deaths: ReturnType<typeof copyTranscript>[] = [];

  private constructor(target: WorkerTarget, runs: readonly WorkerKills[]) {
    this.#home = target.home;
    writeFileSync(this.#killLog, "");
    this.#arm([]);
    this.#supervisor = new WorkerSupervisor({
      ...target,
      kills: runs.flat(),
      killLog: this.#killLog,
      log: join(target.home, "worker.log"),
      tools: resolveBuiltFile("apps/git/worker-tools.js"),
      env: { HOLDFAST_KILL_WHEN: this.#armed },
      onDeath: () => this.#noteDeath(),
    });
  }

  /** @param runs - The kills of each run to come. */
  static async start(target: WorkerTarget, runs: readonly WorkerKills[]): Promise<KilledWorker> {
    const worker = new KilledWorker(target, runs);
    await worker.#supervisor.start();
    return worker;
  }

  /** Plays a run under its kills. @returns What the transcript had at each death. */
  async kill(kills: WorkerKills, run: () => Promise<void>): Promise<readonly StoredAnswers[]> {
    await this.#supervisor.ready();
    const beganAtMs = Date.now();
    this.#deaths = [];
    this.#kills = kills;
    this.#arm(kills);
    try {
      await run();
    } finally {
      this.#kills = [];
      this.#arm([]);
    }
    const deaths = this.#deaths;
    this.#deaths = [];
    // A process that has not passed its kill point would die in a later run.
    for (let missing = kills.length - deaths.length; missing > 0; missing -= 1) await this.#replace();
    return await Promise.all(deaths.map((death) => countAnswers(death, beganAtMs)));
  }

  /** Lists the processes that ended without a kill, and how. */
  get ownEnds(): readonly string[] {
    return this.#supervisor.ownEnds;
  }

  /** Ends the worker in order. @returns How often its last process has passed each kill point. */
  async stop(): Promise<ReadonlyMap<string, number>> {
    await this.#supervisor.stop("SIGTERM");
    const passed = new Map<string, number>();
    for (const line of readFileSync(this.#killLog, "utf8").trim().split("\n")) {
      const { type, passed: counts = {} } = JSON.parse(line || "{}");
      if (type !== "ended") continue;
      for (const [point, count] of Object.entries<number>(counts))
        passed.set(point, (passed.get(point) ?? 0) + count);
    }
    return passed;
  }

  get #killLog(): string {
    return join(this.#home, "kills");
  }

  get #armed(): string {
    return join(this.#home, "armed");
  }

  #arm(kills: WorkerKills): void {
    writeFileSync(this.#armed, kills.map((kill) => kill.replace(/:\d+$/, "")).join(" "));
  }

  #noteDeath(): void {
    this.#lives += 1;
    if (this.#kills.length === 0) return;
    this.#deaths.push(copyTranscript(this.#home));
    if (this.#deaths.length === this.#kills.length) this.#arm([]);
  }

  async #replace(): Promise<void> {
    const lives = this.#lives;
    this.#supervisor.signal("SIGKILL");
    await eventually(() => this.#lives > lives, { what: "the end of a worker" });
    await this.#supervisor.ready();
  }
}
