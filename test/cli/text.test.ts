import { expect, test } from "vitest";
import { describeTotals } from "../../src/apps/cli/text.ts";

const usage = { input: 1, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 3 };

test("what a run used is one line: turns, tokens, cost and time; what is unknown is left out, or a dash", () => {
  expect(describeTotals({ turns: 2, usage, costUsd: 0.5, durationMs: 1_240 })).toBe(
    "2 turns · 3 tokens · $0.50 · 1.2 s",
  );
  expect(describeTotals({ turns: 1, costUsd: null })).toBe("1 turn · —");
});

test("a long time is given in its two largest units", () => {
  const timeOf = (durationMs: number) => describeTotals({ durationMs }).split(" · ").at(-1);
  expect([59_900, 60_000, 3_540_000, 3_600_000, 93_780_000].map(timeOf)).toEqual([
    "59.9 s",
    "1 min",
    "59 min",
    "1 h 0 min",
    "26 h 3 min",
  ]);
});
