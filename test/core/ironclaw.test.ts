import { describe, expect, test } from "vitest";
import { truncateForPreview } from "../../src/platform/text/preview.ts";
import { play, type Run } from "./support/run.ts";
import { calls, NO_LIMITS, says } from "./support/script.ts";

// The tests of ironclaw's agent loop, applied to this state machine.

const outcome = (run: Run) => run.state.last?.outcome;

describe("the tests of the source project", () => {
  test("a text without tool calls is the response [IRON-09.1, IRON-16.1]", async () => {
    const run = await play({ replies: [says("Hello, world!")] }).settle();
    expect(outcome(run)).toEqual({ type: "answered", stopReason: "stop" });
    expect(run.state.last?.text).toMatch(/^Hello, world!/);
    expect(run.asked).toHaveLength(1);
  });

  test("a tool call runs, and the text after it is the response [IRON-16.2]", async () => {
    const run = play({
      replies: [calls("echo"), says("Done!")],
      tools: { echo: { replay: "pure", quick: false } },
    });
    await run.settle();
    expect(run.executed).toHaveLength(1);
    expect(run.state.last?.text).toMatch(/^Done!/);
  });

  test("a stop ends the loop before the model is called [IRON-16.3]", async () => {
    const run = play({ held: true });
    run.stop();
    run.tell({ type: "started" });
    await run.settle();
    expect(run.asked).toHaveLength(0);
    expect(run.executed).toHaveLength(0);
  });

  test("an injected message is in the conversation before the model's next answer [IRON-16.4]", async () => {
    const run = await play({ replies: [calls("bash"), says("Got it")] })
      .until("call-tools")
      .steer("injected prompt")
      .settle();
    expect(run.lines).toContain("steering: injected prompt");
    expect(run.lines.indexOf("steering: injected prompt")).toBeLessThan(run.lines.indexOf("model: Got it"));
    expect(outcome(run)?.type).toBe("answered");
  });

  test("an endless loop reaches its limit [IRON-09.3, IRON-16.5]", async () => {
    const replies = Array.from({ length: 10 }, () => calls("bash"));
    const run = await play({ replies, limits: { ...NO_LIMITS, maxTurns: 3 } }).settle();
    expect(outcome(run)?.type).toBe("limit-reached");
    expect(run.asked).toHaveLength(3);
    expect(run.lines.filter((line) => line.startsWith("model:"))).toHaveLength(3);
  });

  test("three texts that announce a call: two nudges, then the response [IRON-16.6]", async () => {
    const announcing = says("Let me search for that file");
    const run = await play({ replies: [announcing, announcing, announcing], nudges: 2 }).settle();
    expect(run.asked).toHaveLength(3);
    expect(run.lines.filter((line) => line.includes("did not include any tool calls"))).toHaveLength(2);
    expect(outcome(run)?.type).toBe("answered");
  });

  test("an early exit: cost that reaches the limit ends the loop before the next model call [IRON-16.7]", async () => {
    const replies = [{ ...calls("bash"), costUsd: 2 }, says("never said")];
    const run = await play({ replies, limits: { ...NO_LIMITS, maxCostUsd: 1 } }).settle();
    expect(outcome(run)?.type).toBe("limit-reached");
    expect(run.asked).toHaveLength(1);
  });

  test.each([
    ["hello", 10, "hello"],
    ["hello", 5, "hello"],
    ["hello world", 5, "hello..."],
    ["", 10, ""],
    ["café", 4, "caf..."],
  ])("the preview of %j in %d bytes is %j [IRON-16.8]", (text, bytes, preview) => {
    expect(truncateForPreview(text, bytes)).toBe(preview);
  });
});
