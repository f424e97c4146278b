import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { DATABASE_URL } from "../../../src/config/database.ts";
import type { StepRecord } from "../../../src/store/transcript/step.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import {
  startWorkerProcess,
  type WorkerProcess,
  type WorkerProcessOptions,
} from "../../../src/testing/worker-process.ts";
import type { Session } from "../../workflows/support/session.ts";
import { openStage, type Stage, TEST_KEY } from "../../workflows/support/temporal.ts";

export { expectWhole } from "../../workflows/support/whole.ts";

const TOOLS = fileURLToPath(new URL("./tools.mjs", import.meta.url));

/** A stage whose workers are processes of their own. */
export type CrashStage = Stage & {
  /** Ends with the test at the latest. */
  worker(options?: Partial<WorkerProcessOptions>): Promise<WorkerProcess>;
  /** Lets a waiting tool go on. */
  go(label: string): void;
  /** How often a waiting tool was started. */
  runs(label: string): number;
  /** Resolves when it runs. */
  started(label: string): Promise<void>;
  /** Resolves when this live output has left the worker's memory: a kill loses the last few milliseconds of it. */
  printed(text: string): Promise<void>;
};

/** @param database - The address of a database instead of a file. */
export async function openCrashStage(database?: string): Promise<CrashStage> {
  const stage = await openStage({ worker: false, ...(database === undefined ? {} : { database }) });
  const { address, namespace, home, taskQueue } = stage;
  const runs = (label: string) => {
    const file = join(home, `${label}.runs`);
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
  };
  return {
    ...stage,
    worker: async (options = {}) => {
      const worker = await startWorkerProcess({
        address,
        namespace,
        home,
        taskQueue,
        tools: [TOOLS],
        ...options,
        env: {
          [TEST_KEY_NAME]: TEST_KEY,
          ...(database === undefined ? {} : { [DATABASE_URL]: database }),
          ...options.env,
        },
      });
      onTestFinished(async () => {
        await worker.kill("SIGKILL");
      });
      return worker;
    },
    go: (label) => writeFileSync(join(home, `${label}.go`), ""),
    runs,
    started: async (label) => {
      await eventually(() => runs(label) > 0, { what: `the start of ${label}` });
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
const NOT_TAKEN = 2;

/** Workflow tasks of a run that have waited, and in vain, in the queue of a worker that was gone. */
export async function lateTasks(stage: Stage, session: string): Promise<number> {
  const { events } = await stage.client.workflow.getHandle(session).fetchHistory();
  const late = (events ?? []).map(({ workflowTaskTimedOutEventAttributes: timedOut }) => timedOut);
  return late.filter((timedOut) => timedOut?.timeoutType === NOT_TAKEN).length;
}

/** When the step of this kind was begun for the n-th time. */
export async function executed(
  stage: Stage,
  session: Session,
  kind: string,
  executions: number,
  timeoutMs = 30_000,
): Promise<StepRecord> {
  return await eventually(
    async () =>
      (await stage.transcript.steps(session.id)).find(
        (step) => step.kind === kind && step.executions === executions,
      ),
    { timeoutMs, what: `execution ${executions} of ${kind}` },
  );
}
