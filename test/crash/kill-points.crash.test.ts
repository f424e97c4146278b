import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KILL_POINTS, type KillPoint } from "../../src/platform/kill-point.ts";
import { approveUpdate, statusQuery } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";
import { superviseArmedWorker } from "./support/supervised-worker.ts";

// Kills a worker once at every kill point. Each kill hits a run of its own; the next worker finishes that run before it is
// killed at the next point. `npm run crash` kills under many runs at a time, and also around calls to the server.

/** Passed only by a worker that takes over from a dead one. */
const OF_RECOVERY = KILL_POINTS.filter((point) => point.startsWith("recovery:"));
const OF_WORK = KILL_POINTS.filter((point) => !point.startsWith("recovery:"));

/** The answer was in flight, or received and not stored yet: only here does the next worker repeat the request. */
const REQUEST_REPEATED: readonly KillPoint[] = [
  "stream:begun",
  "stream:bytes",
  "stream:whole",
  "store:before",
];

/** Plays a run that waits for an approval, executes a command that must not run twice, and answers. */
async function playRun(stage: CrashEnvironment, point: KillPoint): Promise<void> {
  const log = join(stage.home, `${point}.runs`);
  const session = stage.session({
    replies: [
      { toolCalls: [{ name: "bash", arguments: { command: `echo $$ >> "${log}"` } }] },
      { text: "Done." },
    ],
    agent: { tools: ["bash"], permissions: { otherwise: "ask" } },
  });
  await session.start("Go");
  const needsApproval = async () => (await session.handle.query(statusQuery)).approvals.length === 1;
  await eventually(() => needsApproval().catch(() => false), {
    timeoutMs: 60_000,
    what: "an approval to answer",
  });
  await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] });
  expect(await session.readResult(), point).toMatchObject({ text: "Done." });
  await expectComplete(stage, session);

  const runs = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0;
  const [result] = (await session.readEntries()).filter(({ message }) => message.role === "toolResult");
  const hasSucceeded = result?.message.role === "toolResult" && !result.message.isError;
  expect(runs, `${point}: executions of the command`).toBeLessThanOrEqual(1);
  if (hasSucceeded) expect(runs, `${point}: a result without an execution`).toBe(1);
  const answers = (await session.readEntries()).filter(({ message }) => message.role === "assistant");
  expect(answers, point).toHaveLength(2);
  expect(session.listRequests().length, `${point}: model requests`).toBe(
    REQUEST_REPEATED.includes(point) ? 3 : 2,
  );
}

/** After a kill at the first point, the worker that takes over is killed at the second. */
const RECOVERY_KILLS: Partial<Record<KillPoint, KillPoint>> = {
  "claim:after": "recovery:signed-in",
  "stream:bytes": "recovery:queues-given-back",
  "tool:start": "recovery:activities-failed",
};

/** The `onTestFinished` of one test: the global one does not know which of the concurrent tests calls it. */
type OnTestFinished = (cleanUp: () => Promise<void>) => void;

async function killAt(points: readonly KillPoint[], onFinished: OnTestFinished): Promise<void> {
  const stage = await openCrashEnvironment();
  onFinished(() => stage.close());
  const killsOf = (point: KillPoint) => [point, RECOVERY_KILLS[point] ?? []].flat();
  const kills = points.flatMap(killsOf);
  const worker = await superviseArmedWorker(stage, kills);
  onFinished(() => worker.stop());
  for (const point of points) {
    worker.arm(...killsOf(point));
    await playRun(stage, point);
  }
  expect(worker.ownEnds).toEqual([]);
  expect(worker.listKills()).toEqual(kills);
}

test("every recovery kill point follows a kill during work", () => {
  expect(Object.values(RECOVERY_KILLS).sort()).toEqual([...OF_RECOVERY].sort());
  expect(Object.keys(RECOVERY_KILLS).every((point) => (OF_WORK as readonly string[]).includes(point))).toBe(
    true,
  );
});

/** Played concurrently: a chain spends most of its time waiting. */
const CHAINS = 3;

const chains = Array.from({ length: CHAINS }, (_, chain) => ({
  chain,
  points: OF_WORK.filter((_, nth) => nth % CHAINS === chain),
}));

describe("a worker killed at each kill point leaves every run complete, and nothing is done or paid for twice", () => {
  test.concurrent.for(chains)(
    "chain $chain",
    { timeout: 180_000 },
    async ({ points }, { onTestFinished }) => {
      await killAt(points, onTestFinished);
    },
  );
});
