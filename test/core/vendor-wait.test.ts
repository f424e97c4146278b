import { expect, test } from "vitest";
import { buildStatus } from "../../src/core/machine/status.ts";
import { planNextAttempt } from "../../src/core/machine/vendor-wait.ts";
import type { Chain } from "./support/chain.ts";
import { play } from "./support/run.ts";
import { NO_LIMITS, says } from "./support/script.ts";

const HOUR = 3_600_000;

/** A run whose vendor requests a pause before the next attempt. */
function waiting(limits: Partial<typeof NO_LIMITS> = {}, forMs = 600_000): Chain {
  const run = play({ limits: { ...NO_LIMITS, ...limits }, maxRetries: 3, replies: [says("done")] });
  return run.until("call-model").setBack({
    type: "failed",
    failure: { fault: "rate-limited", message: "come back later" },
    wait: { forMs, attempts: 1 },
  });
}

test("the run waits for as long as a vendor requests, shows until when in its status, and then calls the vendor again", async () => {
  const run = await waiting();
  const untilMs = run.state.nowMs + 600_000;
  expect(run.command).toEqual({ type: "wait", untilMs });
  expect(buildStatus(run.state).statusText).toContain(`waiting until ${new Date(untilMs).toISOString()}`);
  expect(buildStatus(run.state).statusText).toContain("rate-limited: come back later");
  run.timePassed();
  expect(run.command.type).toBe("wait");
  run.pass(600_000).timePassed();
  // One of four attempts is used.
  expect(run.command).toMatchObject({ type: "call-model", generation: 1, maxAttempts: 3 });
  await run.settle();
  expect(run.state.last?.outcome).toMatchObject({ type: "answered" });
});

test("the attempts before every wait count towards the retries of the model call", async () => {
  const run = await waiting();
  run.pass(600_000).timePassed();
  await run.setBack({
    type: "failed",
    failure: { fault: "rate-limited", message: "come back later" },
    wait: { forMs: 600_000, attempts: 2 },
  });
  run.pass(600_000).timePassed();
  // Three of four attempts are used.
  expect(run.command).toMatchObject({ type: "call-model", generation: 2, maxAttempts: 1 });
});

test("the wait for a vendor counts towards the loop's time limit, which ends the loop", async () => {
  const run = await waiting({ maxDurationMs: 60_000 }, HOUR);
  const { command } = run;
  if (command.type !== "wait" || command.untilMs === undefined) throw new Error(command.type);
  expect(command.untilMs).toBeLessThan(run.state.nowMs + 60_000);
  await run
    .pass(command.untilMs - run.now)
    .timePassed()
    .settle();
  expect(run.state.last?.outcome).toEqual({
    type: "limit-reached",
    reason: "Max duration reached (60s/60s)",
  });
  run.checkEnd();
});

test("a time limit that is raised during the wait extends the wait", async () => {
  const run = await waiting({ maxDurationMs: 60_000 }, HOUR);
  run.tell({ type: "limits-raised", limits: { maxDurationMs: 2 * HOUR } });
  run.pass(60_000).timePassed();
  expect(run.command.type).toBe("wait");
  run.pass(HOUR).timePassed();
  expect(run.command.type).toBe("call-model");
});

test("a stop during the wait ends the loop immediately, without another model call", async () => {
  const run = await waiting();
  const asked = run.asked.length;
  await run.steer("hurry").stop("enough").settle();
  expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  expect(run.asked).toHaveLength(asked);
  run.checkEnd();
});

test("a message that arrives during the wait neither ends the wait nor is lost", async () => {
  const run = await waiting();
  run.pass(HOUR).steer("one more thing");
  expect(run.command.type).toBe("wait");
  await run.timePassed().settle();
  expect(run.lines).toEqual(["prompt: hi", "model: done", "steering: one more thing", "model: done"]);
});

test.each([
  ["a short delay is exactly that of Temporal's retry", 7000, 1000, {}, undefined, "retry", 7000],
  ["without a requested delay, our own back-off is used", undefined, 2000, {}, undefined, "retry", 2000],
  ["the run waits for a long delay", 120_000, 1000, {}, undefined, "wait", 120_000],
  ["for a delay of years, the run waits a quarter of an hour", 9e14, 1000, {}, undefined, "wait", 900_000],
  ["the definition limits the delay", 9e14, 1000, { maxWaitMs: 5000 }, undefined, "retry", 5000],
  ["the run waits for a delay beyond the loop's end, however short", 7000, 1000, {}, 6000, "wait", 7000],
  ["a delay of zero is an immediate retry", 0, 1000, {}, undefined, "retry", 1],
] as const)("%s", (_, retryAfterMs, backoffMs, retry, leftMs, type, ms) => {
  const next = planNextAttempt(retryAfterMs, backoffMs, retry, leftMs);
  expect(next).toEqual(type === "retry" ? { type, delayMs: ms } : { type, forMs: ms });
});
