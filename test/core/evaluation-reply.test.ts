import { describe, expect, test } from "vitest";
import {
  decideWithoutJudge,
  findFirstInteger,
  listJudgedBranches,
  parseJudgeReply,
} from "../../src/conversation/evaluation/judge-decision.ts";
import { branches } from "./evaluation-outcomes.ts";

describe("a judge's reply", () => {
  const outcomes = branches(["answered", 1], ["failed", 1], ["answered", 1], ["answered", 1]);
  const reply = (text: string) => parseJudgeReply(outcomes, { status: { type: "answered" }, text });

  test("names a response by its first integer, counted among the compared branches [PAR-08.2]", () => {
    expect(listJudgedBranches(outcomes)).toEqual([0, 2, 3]);
    expect(reply("1")).toMatchObject({ selected: 0, decidedBy: "strategy" });
    expect(reply("Response 2 is better than 3.")).toMatchObject({ selected: 2, decidedBy: "strategy" });
    expect(reply("3").reason).toBe(
      "The judge chose branch 4 as response 3. Without an answer: branch 2 (failed).",
    );
    expect(
      parseJudgeReply(branches(["answered", 1], ["answered", 1]), {
        status: { type: "answered" },
        text: "**2**",
      }).reason,
    ).toBe("The judge chose branch 2.");
  });

  test("has a sign if a minus precedes a number, but not if a hyphen follows a word [PAR-08.2]", () => {
    expect(findFirstInteger("Response-2, not 1")).toBe(2);
    expect(findFirstInteger("-1")).toBe(-1);
    expect(findFirstInteger("-12")).toBe(-12);
    expect(findFirstInteger("12 or 3")).toBe(12);
    expect(findFirstInteger("2.5")).toBe(2);
    expect(findFirstInteger("none")).toBeUndefined();
  });

  test("without a usable number selects the first branch that answered, with the reason [GAP-10.1]", () => {
    for (const words of ["", "the second", "0", "4", "-1", "99999999999999999999999999"]) {
      const decision = reply(words);
      expect(decision).toMatchObject({ selected: 0, decidedBy: "fallback" });
      expect(decision.reason).toContain(`The judge replied "${words}" instead of a number from 1 to 3.`);
    }
    const later = branches(["stopped", 1], ["answered", 1], ["answered", 1]);
    expect(parseJudgeReply(later, { status: { type: "answered" }, text: "?" }).selected).toBe(1);
  });

  test("that is missing leaves the decision to the fallback; the quoted text is shortened and redacted [GAP-10.1]", () => {
    const reason = `401 for key sk-${"a".repeat(40)} ${"x".repeat(999)}`;
    const decision = parseJudgeReply(outcomes, { status: { type: "failed", reason }, text: "2" });
    expect(decision).toMatchObject({ selected: 0, decidedBy: "fallback" });
    expect(decision.reason).toMatch(
      /^The judge gave no answer \(failed\): 401 for key \*\*\* x+\.\.\. Branch 1 is taken/,
    );
    expect(decision.reason.length).toBeLessThan(400);
    expect(reply("word ".repeat(999)).reason.length).toBeLessThan(400);
  });

  test("is not needed if there is nothing to compare [PAR-06.3, GAP-10.3]", () => {
    expect(decideWithoutJudge(outcomes)).toBeUndefined();
    expect(decideWithoutJudge(branches(["failed", 1], ["answered", 1]))).toEqual({
      selected: 1,
      decidedBy: "strategy",
      reason:
        "Branch 2 is the only one that answered, so the judge was not called. Without an answer: branch 1 (failed).",
    });
    expect(decideWithoutJudge(branches(["failed", 1, 0], ["stopped", 1, 4]))).toMatchObject({
      selected: 1,
      decidedBy: "fallback",
      reason: expect.stringMatching(/^No branch answered, so the judge was not called\. Branch 2 is taken/),
    });
  });
});
