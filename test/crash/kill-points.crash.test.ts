import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KILL_POINTS, type KillPoint } from "../../src/kill-point.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { approveUpdate, statusQuery } from "../../src/workflows/messages.ts";
import { keepWorker } from "./support/keeper.ts";
import { type CrashStage, expectWhole, openCrashStage } from "./support/temporal.ts";

// A worker is killed at every kill point once: each kill has an agent of its own, which the next worker brings to its
// end before that one is killed at the next point. `npm run crash` kills at all of them, and around what the server is
// told, under many agents at a time.

/** Passed by a worker that starts behind one that has died in mid-work: it dies of it too, before it has recovered. */
const OF_RECOVERY = KILL_POINTS.filter((point) => point.startsWith("recovery:"));
const OF_WORK = KILL_POINTS.filter((point) => !point.startsWith("recovery:"));

/** An answer was on its way, or had come and was not stored: it is asked for once more. No other one is. */
const ASKED_AGAIN: readonly KillPoint[] = ["stream:begun", "stream:bytes", "stream:whole", "store:before"];

/** An agent that asks a person, runs a command that may not run twice, and answers. */
async function playOne(stage: CrashStage, point: KillPoint): Promise<void> {
  const log = join(stage.home, `${point}.runs`);
  const session = stage.session({
    replies: [
      { toolCalls: [{ name: "bash", arguments: { command: `echo $$ >> "${log}"` } }] },
      { text: "Done." },
    ],
    agent: { tools: ["bash"], permissions: { otherwise: "ask" } },
  });
  await session.start("Go");
  const waits = async () => (await session.handle.query(statusQuery)).approvals.length === 1;
  await eventually(() => waits().catch(() => false), { timeoutMs: 60_000, what: "a question to a person" });
  await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] });
  expect(await session.result(), point).toMatchObject({ text: "Done." });
  await expectWhole(stage, session);

  const runs = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0;
  const [result] = (await session.entries()).filter(({ message }) => message.role === "toolResult");
  const isKnown = result?.message.role === "toolResult" && !result.message.isError;
  expect(runs, `${point}: how often the command was run`).toBeLessThanOrEqual(1);
  if (isKnown) expect(runs, `${point}: a result without a run`).toBe(1);
  const answers = (await session.entries()).filter(({ message }) => message.role === "assistant");
  expect(answers, point).toHaveLength(2);
  expect(session.requests().length, `${point}: how often the model was asked`).toBe(
    ASKED_AGAIN.includes(point) ? 3 : 2,
  );
}

/** The point that each kill of recovery comes behind. */
const BEHIND: Partial<Record<KillPoint, KillPoint>> = {
  "claim:after": "recovery:signed-in",
  "stream:bytes": "recovery:queues-given-back",
  "tool:start": "recovery:activities-failed",
};

/** Ends with its test; those side by side do not share a hook of the runner's. */
type Finish = (then: () => Promise<void>) => void;

async function killAt(points: readonly KillPoint[], finish: Finish): Promise<void> {
  const stage = await openCrashStage();
  finish(() => stage.close());
  const killsOf = (point: KillPoint) => [point, BEHIND[point] ?? []].flat();
  const kills = points.flatMap(killsOf);
  const worker = await keepWorker(stage, kills);
  finish(() => worker.stop());
  for (const point of points) {
    worker.arm(...killsOf(point));
    await playOne(stage, point);
  }
  expect(worker.ownEnds).toEqual([]);
  expect(worker.killed()).toEqual(kills);
}

test("every kill point is among these", () => {
  expect(Object.values(BEHIND).sort()).toEqual([...OF_RECOVERY].sort());
  expect(Object.keys(BEHIND).every((point) => (OF_WORK as readonly string[]).includes(point))).toBe(true);
});

/** Side by side: a chain waits most of its time. */
const CHAINS = 3;

const chains = Array.from({ length: CHAINS }, (_, chain) => ({
  chain,
  points: OF_WORK.filter((_, nth) => nth % CHAINS === chain),
}));

describe("a worker killed at each kill point leaves every run whole, and nothing is done or paid for twice", () => {
  test.concurrent.for(chains)(
    "chain $chain",
    { timeout: 180_000 },
    async ({ points }, { onTestFinished }) => {
      await killAt(points, onTestFinished);
    },
  );
});
