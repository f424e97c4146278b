import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import { isThorough } from "../../support/test-depth.ts";
import { TEST_KEY } from "../../workflows/support/test-environment.ts";
import type { CrashEnvironment } from "./crash-environment.ts";

type SupervisorOptions = {
  readonly address: string;
  readonly namespace: string;
  readonly home: string;
  readonly taskQueue: string;
  readonly kills: readonly string[];
  readonly killLog: string;
  readonly log: string;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

// @ts-expect-error A script without types.
const { WorkerSupervisor } = (await import("../campaign/worker-supervisor.mjs")) as {
  WorkerSupervisor: new (
    options: SupervisorOptions,
  ) => { start(): Promise<void>; stop(signal: string): Promise<unknown>; readonly ownEnds: string[] };
};

/** A supervised worker: each process is killed at its kill point and replaced at once. */
export type ArmedWorker = {
  /** Makes the worker die at these points, and at no others. */
  arm(...points: readonly string[]): void;
  /** The points of the kills so far, in order. */
  listKills(): readonly string[];
  /** Processes that ended without a kill, and how. */
  readonly ownEnds: readonly string[];
  stop(): Promise<void>;
};

/** @param kills - One kill point for each process, which dies the first time it passes the point while armed. */
export async function superviseArmedWorker(
  stage: CrashEnvironment,
  kills: readonly string[],
): Promise<ArmedWorker> {
  const { address, namespace, home, taskQueue } = stage;
  const [killLog, log, when] = [join(home, "kills"), join(home, "worker.log"), join(home, "armed")];
  writeFileSync(killLog, "");
  writeFileSync(when, "");
  const keeper = new WorkerSupervisor({
    ...{ address, namespace, home, taskQueue, killLog, log },
    kills: kills.map((point) => `${point}:1`),
    // Optimising compilation takes more time than it saves in a process that lives for seconds.
    flags: ["--no-opt"],
    env: {
      HOLDFAST_KILL_WHEN: when,
      [TEST_KEY_NAME]: TEST_KEY,
      // Temporal's SDK then runs workflows in the main thread: a thread of their own takes a sixth of a worker's start. The
      // workers of `npm run test:all` and `npm run crash` have it.
      ...(isThorough ? {} : { TEMPORAL_DEBUG: "1" }),
    },
  });
  await keeper.start();
  return {
    arm: (...points) => writeFileSync(when, points.join(" ")),
    listKills: () =>
      readFileSync(killLog, "utf8")
        .split("\n")
        .flatMap((line) =>
          line.includes('"killed"') ? [(JSON.parse(line) as { point: string }).point] : [],
        ),
    ownEnds: keeper.ownEnds,
    stop: async () => void (await keeper.stop("SIGKILL")),
  };
}
