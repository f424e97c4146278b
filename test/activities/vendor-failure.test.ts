import { CancelledFailure, type Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { logRetry } from "../../src/activities/model/log-retry.ts";
import { computeBackoff, toFailure } from "../../src/activities/step/failure.ts";
import { ProviderError, type ProviderFault } from "../../src/models/provider-error.ts";
import type { Logger } from "../../src/platform/log.ts";
import { RetryConfig } from "../../src/schema/recovery.ts";

/** The failure that Temporal receives for an error at the n-th attempt. */
async function told(error: unknown, attempt = 1, retry?: RetryConfig): Promise<Error> {
  const failure = new MockActivityEnvironment({ attempt }).run(async () => toFailure(error, retry));
  return (await failure) as Error;
}

describe("the wait before the next attempt", () => {
  test("is 0.8 to 1.2 s, 1.6 to 2.4 s, 3.2 to 4.8 s by default [RTY-02.2]", () => {
    const bounds = [1, 2, 3].map((attempt) => [
      computeBackoff(undefined, attempt, 0),
      computeBackoff(undefined, attempt, 1),
    ]);
    expect(bounds).toEqual([
      [800, 1200],
      [1600, 2400],
      [3200, 4800],
    ]);
    expect(computeBackoff(RetryConfig.parse({}), 2, 0.5)).toBe(2000);
  });

  test("property: it grows, is capped, varies by a fifth, and is whole [RTY-02.1, TEST-03]", () => {
    const config = {
      initialDelayMs: fc.integer({ min: 1, max: 100_000 }),
      backoffMultiplier: fc.double({ min: 1, max: 10, noNaN: true }),
      maxDelayMs: fc.integer({ min: 1, max: 1_000_000 }),
    };
    fc.assert(
      fc.property(
        config.initialDelayMs,
        config.backoffMultiplier,
        config.maxDelayMs,
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (initialDelayMs, backoffMultiplier, maxDelayMs, attempt, dice) => {
          const retry = { maxRetries: 3, initialDelayMs, backoffMultiplier, maxDelayMs };
          const grown = Math.min(initialDelayMs * backoffMultiplier ** (attempt - 1), maxDelayMs);
          expect(computeBackoff(retry, attempt, dice)).toBe(Math.floor(grown * (0.8 + 0.4 * dice)));
        },
      ),
    );
  });

  test("is given to Temporal for the attempt that has just failed, with a new random factor each time [RTY-02.2]", async () => {
    const lost = new ProviderError("network", "connection lost");
    for (const [attempt, from, to] of [
      [1, 800, 1200],
      [2, 1600, 2400],
      [3, 3200, 4800],
    ] as const) {
      const failures = await Promise.all(Array.from({ length: 20 }, () => told(lost, attempt)));
      const delays = failures.map((failure) => Number((failure as ApplicationFailure).nextRetryDelay));
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(from);
      expect(Math.max(...delays)).toBeLessThanOrEqual(to);
      expect(new Set(delays).size).toBeGreaterThan(1);
    }
  });
});

test("the kinds of vendor error, as Temporal stores them [RTY-07]", async () => {
  const kinds = ["api", "network", "auth", "rate-limited", "overflow", "cancelled", "other"] as const;
  const known: Record<ProviderFault, true> = {
    api: true,
    network: true,
    auth: true,
    "rate-limited": true,
    overflow: true,
    cancelled: true,
    other: true,
  };
  expect(kinds.toSorted()).toEqual(Object.keys(known).toSorted());
  const stored = await Promise.all(
    kinds.map((fault) => told(new ProviderError(fault, `words of ${fault}`, { retryAfterMs: 1234 }))),
  );
  expect(
    stored.map((failure) =>
      failure instanceof ApplicationFailure
        ? [failure.type, failure.message, failure.nonRetryable, failure.nextRetryDelay]
        : [failure.constructor, failure.message],
    ),
  ).toEqual([
    ["provider/api", "words of api", true, undefined],
    ["provider/network", "words of network", false, 1234],
    ["provider/auth", "words of auth", true, undefined],
    ["provider/rate-limited", "words of rate-limited", false, 1234],
    ["provider/overflow", "words of overflow", true, undefined],
    [CancelledFailure, "words of cancelled"],
    ["provider/other", "words of other", true, undefined],
  ]);
  const unasked = (await told(new ProviderError("rate-limited", "slow down"))) as ApplicationFailure;
  expect(unasked.nextRetryDelay).toBeGreaterThanOrEqual(800);
});

describe("the log of retries", () => {
  type Line = [facts: Record<string, unknown>, words: string];

  function logged(
    failure: Error,
    attempt: number,
    maximumAttempts: number | undefined,
    maxRetries = 3,
  ): Line[] {
    const lines: Line[] = [];
    const log = { warn: (...line: Line) => lines.push(line) } as unknown as Logger;
    const workflowExecution = { workflowId: "s", runId: "r" };
    const retryPolicy = maximumAttempts === undefined ? {} : { retryPolicy: { maximumAttempts } };
    logRetry(failure, maxRetries, log, { attempt, workflowExecution, ...retryPolicy } as Context["info"]);
    return lines;
  }

  const lost = async (retryAfterMs: number) =>
    await told(new ProviderError("network", "anthropic: connection lost", { retryAfterMs }));

  test("a line states the attempt, the maximum, the wait and the error, in fields that can be filtered [DBG-02]", async () => {
    expect(logged(await lost(1130), 1, 4)).toEqual([
      [
        {
          session: "s",
          attempt: 1,
          max: 3,
          delayMs: 1130,
          fault: "provider/network",
          error: "anthropic: connection lost",
        },
        "Provider error (attempt 1/3), retrying in 1.1s: anthropic: connection lost",
      ],
    ]);
  });

  test("attempts of a lost worker count", async () => {
    expect(logged(await lost(100), 1, 3)[0]?.[0]).toMatchObject({ attempt: 2, max: 3 });
    expect(logged(await lost(100), 2, undefined)[0]?.[0]).toMatchObject({ attempt: 2, max: 3 });
  });

  test("an error that is not retried is not announced", async () => {
    expect(logged(await lost(100), 4, 4)).toEqual([]);
    expect(logged(await lost(100), 1, 1, 0)).toEqual([]);
    expect(logged(await told(new ProviderError("auth", "no")), 1, 4)).toEqual([]);
    expect(logged(await told(new ProviderError("cancelled", "no")), 1, 4)).toEqual([]);
    expect(logged(await told(new Error("odd")), 1, 4)).toEqual([]);
  });
});
