import { expect, test } from "vitest";
import { buildEmptyCounts, judgeSession } from "../../src/core/machine/retention.ts";
import type { RetentionPolicy } from "../../src/schema/retention.ts";

const DAY = 24 * 60 * 60 * 1000;

/** Returns the indexes of the sessions to delete. Sessions are given as agent, age in days and bytes, newest first. */
function goers(
  policy: RetentionPolicy,
  sessions: readonly (readonly [string, number, number])[],
): readonly number[] {
  let counted = buildEmptyCounts(policy);
  return sessions.flatMap(([agentName, days, bytes], index) => {
    const verdict = judgeSession(policy, counted, { agentName, lastActiveAtMs: -days * DAY, bytes }, 0);
    counted = verdict.counted;
    return verdict.reason === undefined ? [] : [index];
  });
}

test("a session is deleted by age, count or bytes, whichever rule applies first", () => {
  const sessions = [
    ["a", 1, 10],
    ["b", 2, 10],
    ["a", 3, 10],
    ["a", 9, 10],
    ["b", 10, 10],
  ] as const;
  expect(goers({ rules: [{ maxAgeDays: 5 }] }, sessions)).toEqual([3, 4]);
  expect(goers({ rules: [{ agent: "a", maxSessions: 1 }] }, sessions)).toEqual([2, 3]);
  expect(goers({ rules: [{ maxBytes: 25 }] }, sessions)).toEqual([2, 3, 4]);
  expect(goers({ rules: [{ agent: "b", maxAgeDays: 1 }, { maxSessions: 3 }] }, sessions)).toEqual([1, 4]);
  expect(goers({ rules: [{ agent: "c", maxSessions: 0 }] }, sessions)).toEqual([]);
});

test("a session that exceeds the byte limit is deleted, and smaller ones after it stay", () => {
  expect(
    goers({ rules: [{ maxBytes: 100 }] }, [
      ["a", 1, 50],
      ["a", 2, 1000],
      ["a", 3, 40],
    ]),
  ).toEqual([1]);
});
