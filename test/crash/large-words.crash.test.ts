import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { thorough } from "../support/depth.ts";
import { connectTo } from "../workflows/support/connected.ts";
import type { Session } from "../workflows/support/session.ts";
import { type CrashStage, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;
beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

const MESSAGES = 20;
/** Near the longest that is taken. */
const CHARS = 9_500_000;

/** Activities of a session that the server has given up: their heartbeats did not come in time. */
async function timedOut(session: Session): Promise<readonly unknown[]> {
  const { events } = await session.handle.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskTimedOutEventAttributes: failed }) => failed ?? []);
}

thorough(
  "twenty messages of nine megabytes each wait for a run, by reference: its worker keeps its heartbeats while it takes them up",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "wait_unsafe", arguments: { label: "large" } }] }, { text: "Read." }],
      agent: { tools: ["wait_unsafe"], limits: { maxTotalTokens: 1_000_000_000 } },
    });
    const worker = await stage.worker();
    await session.start("Go");
    await stage.started("large");
    const holdfast = await connectTo(stage);
    onTestFinished(() => holdfast.close());
    const running = holdfast.session(session.id);
    await running.setQueueMode("steering", "all");
    for (let nth = 0; nth < MESSAGES; nth += 1) await running.steer(`${nth} ${"word ".repeat(CHARS / 5)}`);
    stage.go("large");
    expect(await session.result()).toMatchObject({ text: "Read." });
    expect(await timedOut(session)).toEqual([]);
    const steps = await stage.transcript.steps(session.id);
    expect(steps.map(({ kind }) => kind)).toContain("compact");
    expect(steps.filter(({ executions }) => executions > 1)).toEqual([]);
    await worker.kill();
  },
  180_000,
);
