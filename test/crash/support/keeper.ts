import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import { TEST_KEY } from "../../workflows/support/temporal.ts";
import type { CrashStage } from "./temporal.ts";

type KeeperOptions = {
  readonly address: string;
  readonly namespace: string;
  readonly home: string;
  readonly taskQueue: string;
  readonly kills: readonly string[];
  readonly killLog: string;
  readonly log: string;
  readonly env: Readonly<Record<string, string>>;
};

// @ts-expect-error A script without types.
const { Keeper } = (await import("../campaign/keeper.mjs")) as {
  Keeper: new (
    options: KeeperOptions,
  ) => { start(): Promise<void>; stop(signal: string): Promise<unknown>; readonly ownEnds: string[] };
};

/** A supervised worker: each process is killed at its kill point and replaced at once. */
export type KeptWorker = {
  /** Lets the worker die at these points from now on, and at no others. */
  arm(...points: readonly string[]): void;
  /** The points of the kills so far, in order. */
  killed(): readonly string[];
  /** Processes that ended without a kill, and how. */
  readonly ownEnds: readonly string[];
  stop(): Promise<void>;
};

/** @param kills - One kill point for each process, which dies the first time it passes the point while armed. */
export async function keepWorker(stage: CrashStage, kills: readonly string[]): Promise<KeptWorker> {
  const { address, namespace, home, taskQueue } = stage;
  const [killLog, log, when] = [join(home, "kills"), join(home, "worker.log"), join(home, "armed")];
  writeFileSync(killLog, "");
  writeFileSync(when, "");
  const keeper = new Keeper({
    ...{ address, namespace, home, taskQueue, killLog, log },
    kills: kills.map((point) => `${point}:1`),
    env: { HOLDFAST_KILL_WHEN: when, [TEST_KEY_NAME]: TEST_KEY },
  });
  await keeper.start();
  return {
    arm: (...points) => writeFileSync(when, points.join(" ")),
    killed: () =>
      readFileSync(killLog, "utf8")
        .split("\n")
        .flatMap((line) =>
          line.includes('"killed"') ? [(JSON.parse(line) as { point: string }).point] : [],
        ),
    ownEnds: keeper.ownEnds,
    stop: async () => void (await keeper.stop("SIGKILL")),
  };
}
