import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import type { TestSession } from "../workflows/support/test-session.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";

let stage: CrashEnvironment;
beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

const MESSAGES = 20;
/** Near the maximum size of a message. */
const CHARS = 9_500_000;

/** Activities of a session that the server has given up because their heartbeats did not arrive in time. */
async function timedOut(session: TestSession): Promise<readonly unknown[]> {
  const { events } = await session.handle.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskTimedOutEventAttributes: failed }) => failed ?? []);
}

thoroughTest(
  "twenty messages of nine megabytes each wait for a run, by reference: its worker keeps sending heartbeats while it accepts them",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "wait_unsafe", arguments: { label: "large" } }] }, { text: "Read." }],
      agent: { tools: ["wait_unsafe"], limits: { maxTotalTokens: 1_000_000_000 } },
    });
    const worker = await stage.startWorker();
    await session.start("Go");
    await stage.waitForStart("large");
    const holdfast = await connectClient(stage);
    onTestFinished(() => holdfast.close());
    const running = holdfast.session(session.id);
    await running.queues.setMode("steering", "all");
    for (let nth = 0; nth < MESSAGES; nth += 1) await running.steer(`${nth} ${"word ".repeat(CHARS / 5)}`);
    stage.release("large");
    expect(await session.readResult()).toMatchObject({ text: "Read." });
    expect(await timedOut(session)).toEqual([]);
    const steps = await stage.transcript.readSteps(session.id);
    expect(steps.map(({ kind }) => kind)).toContain("compact");
    expect(steps.filter(({ executions }) => executions > 1)).toEqual([]);
    await worker.kill();
  },
  180_000,
);
