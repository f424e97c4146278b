import { describe, expect, test } from "vitest";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const GIVEN_BACK = { type: "lost", attempts: 0, isReleased: true } as const;
const DIED = { type: "lost", attempts: 0 } as const;

describe("a step that its worker released at shutdown", () => {
  test("is dispatched again after each release: a model call", async () => {
    const run = await play({ replies: [says("there")] }).until("call-model");
    const first = run.command;
    for (let deploy = 1; deploy <= 5; deploy += 1) await run.setBack(GIVEN_BACK);
    expect(run.command).toEqual({ ...first, generation: 5 });
    await run.settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("is dispatched again after each release: a tool call", async () => {
    const run = await play({ replies: [calls("bash"), says("done")] }).until("call-tools");
    for (let deploy = 1; deploy <= 5; deploy += 1) await run.setBack(GIVEN_BACK);
    await run.settle();
    expect(run.lines.join("\n")).not.toContain("workers died");
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("leaves the count of worker deaths unchanged", async () => {
    const run = await play().until("call-model").setBack(DIED).setBack(GIVEN_BACK).setBack(DIED);
    expect(run.phase).toBe("calling-model");
    await run.setBack(DIED).settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "worker-lost" });
  });
});
