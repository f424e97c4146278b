import fc, {
  constant,
  constantFrom,
  double,
  type IProperty,
  array as listOf,
  nat,
  oneof,
  property,
  string,
  tuple,
} from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkCustomChoice,
  chooseBranch,
  findStrategyProblem,
} from "../../src/conversation/evaluation/strategies.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import {
  type BranchStatus,
  isUsable,
  sumUsage,
  toBranchStatus,
} from "../../src/core/evaluation/branch-outcome.ts";
import { buildFallbackDecision, buildKeepAllDecision } from "../../src/core/evaluation/decision.ts";
import type { PlainStrategy } from "../../src/schema/evaluation.ts";
import type { Outcome } from "../../src/schema/record.ts";
import { assignLoopNumbers } from "../../src/store/transcript/loop-numbers.ts";
import { getRunCount } from "../support/test-depth.ts";
import { branches } from "./evaluation-outcomes.ts";

const RUNS = getRunCount(500);
const check = <T>(checked: IProperty<T>) => fc.assert(checked, { numRuns: RUNS });

type Part = readonly [BranchStatus["type"], number, number?];
const selected = (strategy: PlainStrategy, ...parts: readonly Part[]) =>
  chooseBranch(strategy, branches(...parts)).selected;

describe("strategies without a model call", () => {
  test("transparent selects its only branch and rejects more than one [PAR-05.1]", () => {
    expect(chooseBranch("transparent", branches(["answered", 7]))).toEqual({
      selected: 0,
      decidedBy: "strategy",
      reason: "Branch 1 is the only one.",
    });
    expect(findStrategyProblem("transparent", 1)).toBeUndefined();
    expect(findStrategyProblem("transparent", 2)).toMatch(/cannot choose among 2/);
    expect(() => chooseBranch("transparent", branches(["answered", 7], ["failed", 0]))).toThrow(
      /cannot choose among 2/,
    );
  });

  test("an evaluation without configurations is rejected [PAR-04.4]", () => {
    expect(findStrategyProblem("judge", 0)).toMatch(/at least one configuration/);
    expect(findStrategyProblem("judge", 1)).toBeUndefined();
    expect(() => chooseBranch("pick-first", [])).toThrow(/at least one configuration/);
  });

  test("pick-first selects the first branch, token-efficient the one with the fewest tokens, elaborate the one with the most [PAR-05.2-4]", () => {
    const three = [
      ["answered", 50],
      ["answered", 20],
      ["answered", 90],
    ] as const;
    expect(selected("pick-first", ...three)).toBe(0);
    expect(selected("token-efficient", ...three)).toBe(1);
    expect(selected("elaborate", ...three)).toBe(2);
    expect(chooseBranch("token-efficient", branches(...three)).reason).toBe(
      "Branch 2 used the fewest tokens of those that answered, 20.",
    );
    expect(chooseBranch("elaborate", branches(...three)).reason).toContain("Branch 3 used the most tokens");
  });

  test("ties go to the lowest index, whatever the order of the outcomes [PAR-05.2-4, GAP-10.2]", () => {
    const equal = branches(["answered", 90], ["answered", 20], ["answered", 20], ["answered", 90]).reverse();
    expect(chooseBranch("token-efficient", equal).selected).toBe(1);
    expect(chooseBranch("elaborate", equal).selected).toBe(0);
    expect(chooseBranch("pick-first", equal).selected).toBe(0);
  });

  test("branches that failed, were stopped or exceeded their budget do not affect the selection among the others [GAP-10.3]", () => {
    const mixed = [
      ["failed", 1],
      ["answered", 30],
      ["over-budget", 99],
      ["answered", 40],
      ["stopped", 2],
    ] as const;
    expect(selected("pick-first", ...mixed)).toBe(1);
    expect(selected("token-efficient", ...mixed)).toBe(1);
    expect(selected("elaborate", ...mixed)).toBe(3);
    expect(chooseBranch("pick-first", branches(...mixed))).toEqual({
      selected: 1,
      decidedBy: "strategy",
      reason:
        "Branch 2 is the first that answered. Without an answer: branch 1 (failed), branch 3 (over-budget), branch 5 (stopped).",
    });
  });

  test("if no branch answered, the first with a text is selected, otherwise the first, and the decision says so [GAP-10.3]", () => {
    const worded = branches(["failed", 5, 0], ["stopped", 9, 12], ["over-budget", 1, 80]);
    for (const strategy of ["pick-first", "token-efficient", "elaborate"] as const) {
      expect(chooseBranch(strategy, worded)).toEqual({
        selected: 1,
        decidedBy: "fallback",
        reason:
          "No branch answered. Branch 2 is taken, the first that left a text. Without an answer: branch 1 (failed), branch 2 (stopped), branch 3 (over-budget).",
      });
    }
    const silent = chooseBranch("elaborate", branches(["failed", 5, 0], ["failed", 9, 0]));
    expect(silent).toMatchObject({ selected: 0, decidedBy: "fallback" });
    expect(silent.reason).toContain("Branch 1 is taken, the first branch, which left no text either.");
    expect(chooseBranch("transparent", branches(["failed", 0, 0])).decidedBy).toBe("fallback");
  });

  const anyBranches = listOf(
    tuple(constantFrom<BranchStatus["type"]>("answered", "failed", "stopped", "over-budget"), nat(5), nat(2)),
    { minLength: 1, maxLength: 12 },
  ).map((parts) => branches(...parts));

  test("for any outcomes, a branch that answered is selected if there is one [PAR-04.2, GAP-10.3]", () => {
    const wild = oneof(nat(14), constant(undefined), constant("1"), double(), string());
    check(
      property(
        anyBranches,
        constantFrom<PlainStrategy>("pick-first", "token-efficient", "elaborate"),
        wild,
        (outcomes, strategy, choice) => {
          for (const decision of [
            chooseBranch(strategy, outcomes),
            checkCustomChoice("mine", outcomes, choice),
            buildFallbackDecision(outcomes, "Why."),
          ]) {
            const taken = outcomes[decision.selected];
            expect(taken).toBeDefined();
            if (outcomes.some(isUsable)) expect(taken?.status.type).toBe("answered");
            else expect(decision.decidedBy).toBe("fallback");
          }
        },
      ),
    );
  });
});

describe("custom strategies", () => {
  const outcomes = branches(["failed", 1], ["answered", 30], ["answered", 40]);

  test("the index that a strategy returns is used [PAR-04.1]", () => {
    expect(checkCustomChoice("longest", outcomes, 2)).toMatchObject({ selected: 2, decidedBy: "strategy" });
    expect(checkCustomChoice("longest", outcomes, 2).reason).toContain('Strategy "longest" chose branch 3.');
  });

  test("anything but the index of a branch that answered leads to the fallback, with the reason [PAR-04.2, GAP-10.1]", () => {
    for (const [given, said] of [
      [0, "0"],
      [3, "3"],
      [-1, "-1"],
      [1.5, "1.5"],
      ["1", "a value of type string"],
      [undefined, "a value of type undefined"],
    ] as const) {
      const decision = checkCustomChoice("longest", outcomes, given);
      expect(decision).toMatchObject({ selected: 1, decidedBy: "fallback" });
      expect(decision.reason).toContain(
        `returned ${said} instead of the index of a branch that answered (1, 2).`,
      );
    }
    const unanswered = branches(["failed", 1, 0], ["failed", 1, 0]);
    expect(checkCustomChoice("longest", unanswered, 1)).toEqual({
      selected: 0,
      decidedBy: "fallback",
      reason:
        "No branch answered. Branch 1 is taken, the first branch, which left no text either. Without an answer: branch 1 (failed), branch 2 (failed).",
    });
  });
});

test("the fallback takes the first branch that answered, and the first of none [GAP-10.1]", () => {
  const outcomes = branches(["failed", 1], ["answered", 30], ["answered", 40]);
  expect(buildFallbackDecision(outcomes, "The strategy failed.")).toEqual({
    selected: 1,
    decidedBy: "fallback",
    reason:
      "The strategy failed. Branch 2 is taken, the first that answered. Without an answer: branch 1 (failed).",
  });
  expect(buildFallbackDecision([], "The strategy failed.")).toMatchObject({ selected: 0 });
});

test("an evaluation that retains all branches selects none, and names those without an answer [HITL-03]", () => {
  expect(buildKeepAllDecision(branches(["answered", 1]))).toEqual({
    selected: -1,
    decidedBy: "none",
    reason: "The only branch is retained.",
  });
  expect(buildKeepAllDecision(branches(["answered", 1], ["stopped", 1])).reason).toBe(
    "All 2 branches are retained. Without an answer: branch 2 (stopped).",
  );
});

test("each outcome of a loop maps to a status of its branch [PAR-03.1]", () => {
  const ends: readonly (readonly [Outcome, BranchStatus])[] = [
    [{ type: "answered", stopReason: "stop" }, { type: "answered" }],
    [
      { type: "limit-reached", reason: "Max turns reached (2/2)" },
      { type: "over-budget", reason: "Max turns reached (2/2)" },
    ],
    [
      { type: "stopped", reason: "enough" },
      { type: "stopped", reason: "enough" },
    ],
    [
      { type: "ended", by: "guard", reason: "late" },
      { type: "stopped", reason: "Ended by guard: late" },
    ],
    [
      { type: "failed", fault: "rejected", message: "no" },
      { type: "failed", reason: "no" },
    ],
    [
      { type: "rejected", reason: "rude" },
      { type: "failed", reason: "Input rejected: rude" },
    ],
    [
      { type: "paused", by: "wait_for_review", reason: "review" },
      { type: "stopped", reason: "Paused: review" },
    ],
    [
      { type: "handoff", by: "hand_over", reason: "too hard" },
      { type: "stopped", reason: "Handed over: too hard" },
    ],
    [
      { type: "delivered", messages: 1 },
      { type: "failed", reason: "It received no prompt." },
    ],
  ];
  for (const [outcome, status] of ends) expect(toBranchStatus(outcome)).toEqual(status);
});

test("usage is the sum over every branch and the judge [PAR-01.4]", () => {
  const judge = { ...NO_USAGE, input: 3, output: 4, totalTokens: 7 };
  expect(sumUsage(branches(["answered", 10], ["failed", 5], ["over-budget", 2]), judge)).toEqual({
    ...NO_USAGE,
    input: 20,
    output: 4,
    totalTokens: 24,
  });
});

test("branches and judge receive consecutive loop numbers across all their configurations, and never an existing id [PAR-13.1, X-16.1-2]", () => {
  expect(assignLoopNumbers(["p.opus", "p.haiku", "p.opus"], () => 0)).toEqual([1, 2, 3]);
  const last = new Map([
    ["p.opus", 2],
    ["p.haiku", 5],
    ["p.other", 9],
  ]);
  expect(assignLoopNumbers(["p.opus", "p.haiku", "p.opus"], (segment) => last.get(segment) ?? 0)).toEqual([
    6, 7, 8,
  ]);
});
