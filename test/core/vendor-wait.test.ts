import { expect, test } from "vitest";
import { buildStatus } from "../../src/core/machine/status.ts";
import { planNextAttempt } from "../../src/core/machine/vendor-wait.ts";
import type { Chain } from "./support/chain.ts";
import { play } from "./support/run.ts";
import { NO_LIMITS, says } from "./support/script.ts";

const HOUR = 3_600_000;

/** The vendor of the turn's answer wants to be left alone. */
function waiting(limits: Partial<typeof NO_LIMITS> = {}, forMs = 600_000): Chain {
  const run = play({ limits: { ...NO_LIMITS, ...limits }, maxRetries: 3, replies: [says("done")] });
  return run.until("call-model").setBack({
    type: "failed",
    failure: { fault: "rate-limited", message: "come back later" },
    wait: { forMs, attempts: 1 },
  });
}

test("a vendor that wants a long pause is waited for by the run, which says until when, and asked again then", async () => {
  const run = await waiting();
  const untilMs = run.state.nowMs + 600_000;
  expect(run.command).toEqual({ type: "wait", untilMs });
  expect(buildStatus(run.state).statusText).toContain(`waiting until ${new Date(untilMs).toISOString()}`);
  expect(buildStatus(run.state).statusText).toContain("rate-limited: come back later");
  run.timePassed();
  expect(run.command.type).toBe("wait");
  run.pass(600_000).timePassed();
  // One attempt is gone of four.
  expect(run.command).toMatchObject({ type: "call-model", generation: 1, maxAttempts: 3 });
  await run.settle();
  expect(run.state.last?.outcome).toMatchObject({ type: "answered" });
});

test("the loop's time goes on while a vendor is waited for, and ends the loop", async () => {
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

test("more time that a person allows meanwhile is waited for too", async () => {
  const run = await waiting({ maxDurationMs: 60_000 }, HOUR);
  run.tell({ type: "limits-raised", limits: { maxDurationMs: 2 * HOUR } });
  run.pass(60_000).timePassed();
  expect(run.command.type).toBe("wait");
  run.pass(HOUR).timePassed();
  expect(run.command.type).toBe("call-model");
});

test("a stop while a vendor is waited for ends the loop at once, and nobody is asked any more", async () => {
  const run = await waiting();
  const asked = run.asked.length;
  await run.steer("hurry").stop("enough").settle();
  expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  expect(run.asked).toHaveLength(asked);
  run.checkEnd();
});

test("what people send while a vendor is waited for neither ends the wait nor is lost", async () => {
  const run = await waiting();
  run.pass(HOUR).steer("one more thing");
  expect(run.command.type).toBe("wait");
  await run.timePassed().settle();
  expect(run.lines).toEqual(["prompt: hi", "model: done", "steering: one more thing", "model: done"]);
});

test.each([
  ["a short delay is Temporal's retry, used exactly", 7000, 1000, {}, undefined, "retry", 7000],
  ["no delay is asked for: our own", undefined, 2000, {}, undefined, "retry", 2000],
  ["a long one is waited for by the run", 120_000, 1000, {}, undefined, "wait", 120_000],
  ["one of years is looked at after a quarter of an hour", 9e14, 1000, {}, undefined, "wait", 900_000],
  ["or after what the definition says", 9e14, 1000, { maxWaitMs: 5000 }, undefined, "retry", 5000],
  ["one behind the loop's end is the run's, however short", 7000, 1000, {}, 6000, "wait", 7000],
  ["zero is at once", 0, 1000, {}, undefined, "retry", 1],
] as const)("%s", (_, retryAfterMs, backoffMs, retry, leftMs, type, ms) => {
  const next = planNextAttempt(retryAfterMs, backoffMs, retry, leftMs);
  expect(next).toEqual(type === "retry" ? { type, delayMs: ms } : { type, forMs: ms });
});
