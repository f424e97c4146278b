import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect } from "vitest";
import type { WorkerProcess } from "../../src/testing/worker-process.ts";
// @ts-expect-error: a plain module, which the campaign reads too.
import { isNormalTaskFailure } from "../support/normal-task-failures.mjs";
import { thoroughTest } from "../support/test-depth.ts";
import type { TestSession } from "../workflows/support/test-session.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";

const ONE_MORE = fileURLToPath(new URL("./support/one-more-tool.mjs", import.meta.url));
const TOOLS = fileURLToPath(new URL("./support/tools.mjs", import.meta.url));

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

const RUNS_AT_ONCE = 24;
const DEPLOYS = 6;

/** Each execution leaves a line in a file of its own, so that a command that ran twice is noticed. */
const COMMAND = 'echo run >> "runs-$(echo "$HOLDFAST_CALL" | tr / _)"; sleep 0.3; echo finished';
const STEP = { toolCalls: [{ name: "bash", arguments: { command: COMMAND } }], chunkDelayMs: 40 };

/** Four slow answers, three commands that must not run twice. */
const SCRIPT = {
  replies: [STEP, STEP, STEP, { text: "Every step is done, and none of them twice.", chunkDelayMs: 40 }],
};

function busy(): TestSession {
  const session = stage.session({ agent: { tools: ["bash"] } });
  stage.model.script(SCRIPT);
  return session;
}

thoroughTest(
  "a rolling deploy under load, between two versions, costs no answer and no error (design 3.5)",
  async () => {
    const versions = [
      { tools: [TOOLS], env: {} },
      { tools: [TOOLS, ONE_MORE], env: {} },
    ];
    const workers: WorkerProcess[] = [
      await stage.startWorker(versions[0]),
      await stage.startWorker(versions[0]),
    ];
    const sessions: TestSession[] = [];
    let deploying = true;
    const results: Promise<unknown>[] = [];
    const oneByOne = async (): Promise<void> => {
      while (deploying) {
        const session = busy();
        sessions.push(session);
        const result = session.run("Go");
        results.push(result);
        await result;
      }
    };
    const lanes = Array.from({ length: RUNS_AT_ONCE }, oneByOne);
    const inFlight: number[] = [];
    for (let deploy = 1; deploy <= DEPLOYS; deploy += 1) {
      workers.push(await stage.startWorker(versions[deploy % 2]));
      await sleep(300);
      inFlight.push(await openRuns());
      expect(await workers.shift()?.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    }
    deploying = false;
    await Promise.all(lanes);

    expect(Math.min(...inFlight)).toBeGreaterThanOrEqual(RUNS_AT_ONCE / 2);
    expect(await Promise.all(results)).toHaveLength(sessions.length);
    expect(stage.model.paid()).toHaveLength(sessions.length * 4);
    for (const turn of stage.model.paid()) expect(turn).toMatchObject({ asked: 1, answered: 1 });
    const ran = readdirSync(stage.home).filter((name) => name.startsWith("runs-"));
    expect(ran).toHaveLength(sessions.length * 3);
    for (const name of ran) expect(readFileSync(join(stage.home, name), "utf8")).toBe("run\n");
    const late: string[] = [];
    for (const session of sessions) {
      await expectComplete(stage, session);
      const seen = await troubles(session);
      expect(seen.filter((trouble) => !LATE.includes(trouble))).toEqual([]);
      late.push(...seen);
    }
    expect(late.length, late.join(", ")).toBeLessThanOrEqual((DEPLOYS * RUNS_AT_ONCE) / LATE_OF);
  },
  180_000,
);

async function openRuns(): Promise<number> {
  const counted = await stage.client.workflow.count(
    `ExecutionStatus = 'Running' AND TaskQueue = '${stage.taskQueue}'`,
  );
  return counted.count;
}

// Each is dispatched again after five seconds.
/** A workflow task that the server had given to the worker that ended. */
const LOST = "a workflow task was lost on its way";
/** A workflow task that entered the sticky queue of the worker that ended, or waited there. */
const NOT_TAKEN = "a workflow task waited in the queue of a worker that ended";
const LATE = [LOST, NOT_TAKEN];
/** At most one in this many runs in flight is late at a deploy: one in twelve was observed with every core busy. */
const LATE_OF = 4;
/** `temporal.api.enums.v1.TimeoutType` */
const LATE_BY_TYPE: Readonly<Record<number, string>> = { 1: LOST, 2: NOT_TAKEN };

/** What an operator would call an error, from the run's history. */
async function troubles(session: TestSession): Promise<string[]> {
  const { events } = await session.handle.fetchHistory();
  return (events ?? []).flatMap((event) => {
    const { activityTaskFailedEventAttributes: failed, workflowTaskFailedEventAttributes: taskFailed } =
      event;
    const { workflowTaskTimedOutEventAttributes: timedOut } = event;
    return [
      ...(failed ? [`activity failed: ${failed.failure?.message}`] : []),
      ...(event.activityTaskTimedOutEventAttributes ? ["activity timed out"] : []),
      ...(taskFailed && !isNormalTaskFailure(taskFailed.cause)
        ? [`workflow task failed: ${taskFailed.failure?.message}`]
        : []),
      ...(timedOut ? [LATE_BY_TYPE[timedOut.timeoutType ?? 0] ?? "workflow task timed out"] : []),
    ];
  });
}
