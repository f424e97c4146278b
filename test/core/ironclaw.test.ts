import { describe, expect, test } from "vitest";
import { truncateForPreview } from "../../src/platform/text/preview.ts";
import { calls, NO_LIMITS, type Play, play, says } from "./play.ts";

// The tests of ironclaw's loop, on this machine.

const outcome = (run: Play) => run.state.last?.outcome;

describe("the tests of the source [IRON-16]", () => {
  test("a text at once is the response", () => {
    const run = play({ replies: [says("Hello, world!")] }).settle();
    expect(outcome(run)).toEqual({ type: "answered", stopReason: "stop" });
    expect(run.state.last?.text).toMatch(/^Hello, world!/);
    expect(run.asked).toHaveLength(1);
  });

  test("a tool call, then a text", () => {
    const run = play({
      replies: [calls("echo"), says("Done!")],
      tools: { echo: { replay: "pure", quick: false } },
    });
    run.settle();
    expect(run.executed).toHaveLength(1);
    expect(run.state.last?.text).toMatch(/^Done!/);
  });

  test("a stop ends it before the model is asked", () => {
    const run = play({ held: true });
    run.stop();
    run.tell({ type: "begun" });
    run.settle();
    expect(run.asked).toHaveLength(0);
    expect(run.executed).toHaveLength(0);
  });

  test("an injected message is in the conversation that the model is asked with", () => {
    const run = play({ replies: [calls("bash"), says("Got it")] })
      .until("call-tools")
      .steer("injected prompt")
      .settle();
    expect(run.lines).toContain("steering: injected prompt");
    expect(run.lines.indexOf("steering: injected prompt")).toBeLessThan(run.lines.indexOf("model: Got it"));
    expect(outcome(run)?.type).toBe("answered");
  });

  test("a loop that goes on for ever meets its limit", () => {
    const replies = Array.from({ length: 10 }, () => calls("bash"));
    const run = play({ replies, limits: { ...NO_LIMITS, maxTurns: 3 } }).settle();
    expect(outcome(run)?.type).toBe("limit-reached");
    expect(run.asked).toHaveLength(3);
    expect(run.lines.filter((line) => line.startsWith("model:"))).toHaveLength(3);
  });

  test("three texts that announce a call: two nudges, then a response", () => {
    const announcing = says("Let me search for that file", { announces: true });
    const run = play({ replies: [announcing, announcing, announcing], nudges: 2 }).settle();
    expect(run.asked).toHaveLength(3);
    expect(run.lines.filter((line) => line.includes("did not include any tool calls"))).toHaveLength(2);
    expect(outcome(run)?.type).toBe("answered");
  });

  test("an early end: what is spent already ends the loop before the next question", () => {
    const replies = [{ ...calls("bash"), costUsd: 2 }, says("never said")];
    const run = play({ replies, limits: { ...NO_LIMITS, maxCostUsd: 1 } }).settle();
    expect(outcome(run)?.type).toBe("limit-reached");
    expect(run.asked).toHaveLength(1);
  });

  test.each([
    ["hello", 10, "hello"],
    ["hello", 5, "hello"],
    ["hello world", 5, "hello..."],
    ["", 10, ""],
    ["café", 4, "caf..."],
  ])("%j in %d bytes is %j", (text, bytes, preview) => {
    expect(truncateForPreview(text, bytes)).toBe(preview);
  });
});
