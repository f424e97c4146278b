import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { DATABASE_URL } from "../../../src/config/database-url.ts";
import type { StepRecord } from "../../../src/store/transcript/step.ts";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import {
  startWorkerProcess,
  type WorkerProcess,
  type WorkerProcessOptions,
} from "../../../src/testing/worker-process.ts";
import { eventually } from "../../support/eventually.ts";
import {
  openTestEnvironment,
  TEST_KEY,
  type TestEnvironment,
} from "../../workflows/support/test-environment.ts";
import type { TestSession } from "../../workflows/support/test-session.ts";

export { expectComplete } from "../../workflows/support/expect-complete.ts";

const TOOLS = fileURLToPath(new URL("./tools.mjs", import.meta.url));

type WorkerLife = { readonly from: number; to: number };

/** A test environment whose workers are processes of their own. */
export type CrashEnvironment = TestEnvironment & {
  /** Ends with the test at the latest. */
  startWorker(options?: Partial<WorkerProcessOptions>): Promise<WorkerProcess>;
  /** When each worker was ready, and when it ended. */
  readonly lives: readonly WorkerLife[];
  /** Releases a waiting tool. */
  release(label: string): void;
  /** How often a waiting tool was started. */
  countRuns(label: string): number;
  /** Resolves when it runs. */
  waitForStart(label: string): Promise<void>;
  /** Resolves when this live output has left the worker's memory: a kill loses the last few milliseconds of it. */
  printed(text: string): Promise<void>;
};

/** @param database - The address of a database instead of a file. */
export async function openCrashEnvironment(database?: string): Promise<CrashEnvironment> {
  const stage = await openTestEnvironment({ worker: false, ...(database === undefined ? {} : { database }) });
  const { address, namespace, home, taskQueue } = stage;
  const countRuns = (label: string) => {
    const file = join(home, `${label}.runs`);
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
  };
  const lives: WorkerLife[] = [];
  return {
    ...stage,
    lives,
    startWorker: async (options = {}) => {
      const worker = await startWorkerProcess({
        address,
        namespace,
        home,
        taskQueue,
        tools: [TOOLS],
        // Ten processes that start at once take long on two cores.
        startTimeoutMs: 100_000,
        ...options,
        env: {
          [TEST_KEY_NAME]: TEST_KEY,
          ...(database === undefined ? {} : { [DATABASE_URL]: database }),
          ...options.env,
        },
      });
      const life = { from: Date.now(), to: Number.POSITIVE_INFINITY };
      lives.push(life);
      void worker.exited.then(() => {
        life.to = Date.now();
      });
      onTestFinished(async () => {
        await worker.kill("SIGKILL");
      });
      return worker;
    },
    release: (label) => writeFileSync(join(home, `${label}.go`), ""),
    countRuns,
    waitForStart: async (label) => {
      await eventually(() => countRuns(label) > 0, { what: `the start of ${label}` });
    },
    printed: async (text) => {
      const live = join(home, "live");
      await eventually(
        () =>
          readdirSync(live, { recursive: true, withFileTypes: true })
            .filter((one) => one.isFile())
            .some((one) => readFileSync(join(one.parentPath, one.name), "utf8").includes(text)),
        { what: `the live output of ${text}` },
      );
    },
  };
}

/** Temporal's TIMEOUT_TYPE_SCHEDULE_TO_START. */
const SCHEDULE_TO_START_TIMEOUT = 2;

/** The time in which a worker that is ready takes over the runs of a dead one. */
const TAKEOVER_MS = 2_000;

/**
 * Counts a run's workflow tasks that timed out in the queue of a worker that was gone, although another worker was there to
 * take over. A task that waits while no worker lives times out after five seconds, as on a busy machine.
 */
export async function countTimedOutTasks(stage: CrashEnvironment, session: string): Promise<number> {
  const { events } = await stage.client.workflow.getHandle(session).fetchHistory();
  return (events ?? []).filter(({ workflowTaskTimedOutEventAttributes: timedOut, eventTime }) => {
    const atMs = Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1_000_000;
    return (
      timedOut?.timeoutType === SCHEDULE_TO_START_TIMEOUT &&
      stage.lives.some(({ from, to }) => from <= atMs - TAKEOVER_MS && atMs <= to)
    );
  }).length;
}

/** Returns when the step of this kind began for the n-th time. */
export async function waitForExecution(
  stage: TestEnvironment,
  session: TestSession,
  kind: string,
  executions: number,
  timeoutMs = 30_000,
): Promise<StepRecord> {
  return await eventually(
    async () =>
      (await stage.transcript.readSteps(session.id)).find(
        (step) => step.kind === kind && step.executions === executions,
      ),
    { timeoutMs, what: `execution ${executions} of ${kind}` },
  );
}
