import { expect, test } from "vitest";
import { EXIT } from "../../src/apps/cli/exit-codes.ts";
import { formatBytes, parseBytes, parsePrune } from "../../src/apps/cli/suites/answer-cache.ts";
import { parseChange } from "../../src/apps/cli/suites/control-suite.ts";
import { getRunExitCode } from "../../src/apps/cli/suites/run-exit-code.ts";
import { parseRunOptions } from "../../src/apps/cli/suites/run-suite.ts";
import { findMissedThresholds, parseThresholds } from "../../src/apps/cli/suites/thresholds.ts";
import { runHoldfast } from "./terminal.ts";

const exact = { type: "exact", ignoreCase: false, trim: true, match: "whole" } as const;
const suite = {
  name: "sums",
  scorers: [{ scorer: exact }, { scorer: { ...exact, name: "strict" } }, { scorer: { type: "cost" } }],
} as const;

test("--fail-under is for the first score, or for a named one", () => {
  expect(parseThresholds(["0.8", "strict=0.5"], suite)).toEqual([
    { score: "exact", minimum: 0.8 },
    { score: "strict", minimum: 0.5 },
  ]);
});

test.each([
  ["high", "must be a number"],
  ["exact=", "must be a number"],
  ["other=1", "It has exact, strict, cost."],
  ["cost=1", "a lower value is the better one"],
])("--fail-under %s is refused", (text, hint) => {
  expect(() => parseThresholds([text], suite)).toThrow(hint);
});

test("a configuration misses a threshold with a lower mean, and without any score", () => {
  const configuration = (name: string, mean: number | null) => ({
    name,
    scores: [{ name: "exact", type: "exact", mean }],
  });
  const report = {
    configurations: [configuration("a", 0.8), configuration("b", 0.79999), configuration("c", null)],
  };
  const misses = findMissedThresholds(
    [{ score: "exact", minimum: 0.8 }],
    report as unknown as Parameters<typeof findMissedThresholds>[1],
  );
  expect(misses).toEqual(["b: exact is 0.79999, below 0.8", "c: there is no exact to compare with 0.8"]);
});

test("the flags of a run become options of the client", () => {
  expect(parseRunOptions({ cells: "auto" })).toEqual({});
  expect(
    parseRunOptions({ fresh: true, cells: "workflow", concurrency: "9", maxCost: "1.5", limit: "3" }),
  ).toEqual({ fresh: true, cells: "agent", concurrency: 9, maxCostUsd: 1.5, limit: 3 });
  expect(() => parseRunOptions({ concurrency: "0" })).toThrow("--concurrency");
});

test("eval set takes a budget, none, or a concurrency, and refuses to change nothing", () => {
  expect(parseChange({ maxCost: "none" })).toEqual({ maxCostUsd: null });
  expect(parseChange({ concurrency: "4", maxCost: "2" })).toEqual({ concurrency: 4, maxCostUsd: 2 });
  expect(() => parseChange({})).toThrow("--concurrency or --max-cost");
});

test("eval cache deletes only what is specified", () => {
  const nowMs = 100 * 86_400_000;
  expect(parsePrune({}, nowMs)).toBeUndefined();
  expect(parsePrune({ prune: true, olderThan: "30d", maxSize: "1GB" }, nowMs)).toEqual({
    unusedSinceMs: 70 * 86_400_000,
    maxBytes: 1_000_000_000,
  });
  expect(() => parsePrune({ prune: true }, nowMs)).toThrow("--older-than or --max-size");
  expect(() => parsePrune({ maxSize: "1GB" }, nowMs)).toThrow("Add --prune");
  expect(parseBytes("--max-size", "1.5 mb")).toBe(1_500_000);
  expect(() => parseBytes("--max-size", "big")).toThrow("such as 500MB");
  expect([0, 999, 1500, 2_500_000_000].map(formatBytes)).toEqual(["0 B", "999 B", "1.5 kB", "2.5 GB"]);
});

test.each([
  ["ended", undefined, 0, EXIT.ok],
  ["ended", undefined, 1, EXIT.failed],
  ["stopped", "user", 0, EXIT.stopped],
  ["stopped", "budget", 0, EXIT.limitReached],
  ["stopped", "failures", 20, EXIT.failed],
  ["stopped", "no-progress", 0, EXIT.failed],
  ["failed", undefined, 0, EXIT.failed],
  ["running", undefined, 3, EXIT.ok],
] as const)(
  "a run that is %s (%s) with %i failed cells has the exit code %i",
  (status, stopCode, failed, code) => {
    expect(getRunExitCode({ status, stopCode, failed })).toBe(code);
  },
);

test.each([
  [["eval", "export", "last"], "--csv or --json"],
  [["eval", "set", "last"], "Nothing is given to change"],
  [["eval", "run", "/nowhere/suite.toml"], "not a valid suite file"],
  [["eval", "show", "last", "--state", "lost"], "pending"],
  [["eval", "run", "suite.toml", "--cells", "all"], "workflow"],
  [["eval", "list", "--limit", "none"], "--limit"],
])("%j is bad usage, with a hint on standard error", async (args, hint) => {
  const { code, err } = await runHoldfast([...args, "--address", "127.0.0.1:1"]);
  expect(code).toBe(EXIT.usage);
  expect(err).toContain(hint);
});

test.each([
  "run",
  "status",
  "attach",
  "pause",
  "resume",
  "stop",
  "set",
  "list",
  "show",
  "compare",
  "export",
  "cache",
  "delete",
])("holdfast eval %s --help has at least two examples", async (name) => {
  const { code, out } = await runHoldfast(["eval", name, "--help"]);
  expect(code).toBe(0);
  expect(out.match(new RegExp(`^ {2}\\$ holdfast eval ${name}\\b`, "gm"))?.length).toBeGreaterThanOrEqual(2);
});
