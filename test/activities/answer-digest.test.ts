import { expect, test } from "vitest";
import { limitCalls } from "../../src/activities/model/answer-digest.ts";

test("the calls of one answer that exceed the payload limit are each returned as invalid", () => {
  const facts = {
    paths: Array.from({ length: 8 }, () => ({ path: "/x".repeat(500), isInWorkspace: false })),
  };
  const calls = Array.from({ length: 256 }, (_, index) => ({
    id: `c${index}`,
    name: "look",
    summary: "s",
    facts,
  }));
  const kept = limitCalls(calls);
  expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(1.2 * 1024 * 1024);
  expect(kept.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  const first = kept.findIndex((call) => "invalidReason" in call);
  expect(first).toBeGreaterThan(100);
  expect(kept.slice(0, first)).toEqual(calls.slice(0, first));
  expect(
    kept
      .slice(first)
      .every((call) => call.invalidReason?.startsWith("the calls of this answer are too large") === true),
  ).toBe(true);
  expect(limitCalls(calls.slice(0, 20))).toEqual(calls.slice(0, 20));
});
