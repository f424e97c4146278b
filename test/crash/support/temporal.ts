import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { eventually } from "../../../src/testing/eventually.ts";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import {
  startWorkerProcess,
  type WorkerProcess,
  type WorkerProcessOptions,
} from "../../../src/testing/worker-process.ts";
import type { StepRecord } from "../../../src/transcript/step.ts";
import type { Session } from "../../workflows/support/session.ts";
import { openStage, type Stage, TEST_KEY } from "../../workflows/support/temporal.ts";

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

export async function openCrashStage(): Promise<CrashStage> {
  const stage = await openStage({ worker: false });
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
        env: { [TEST_KEY_NAME]: TEST_KEY, ...options.env },
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

/** Nothing is lost and nothing is there twice, whatever happened on the way. */
export async function expectWhole(stage: Stage, session: Session): Promise<void> {
  const entries = await session.entries();
  expect(entries.map(({ position }) => position)).toEqual(entries.map((_, index) => index));
  const calls = entries.flatMap(({ message }) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []))
      : [],
  );
  const results = entries.flatMap(({ message }) =>
    message.role === "toolResult" ? [message.toolCallId] : [],
  );
  expect(results).toEqual(calls);
  for (const { loopId, status } of await stage.transcript.loops(session.id)) {
    const events = await stage.transcript.events(loopId, 0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    expect(events.at(-1)?.body.type).toBe("AgentEnd");
    expect(status).toBe("completed");
  }
  expect(await stage.transcript.branches(session.id)).toHaveLength(1);
}
