import { describe, expect, test } from "vitest";
import { apply } from "../../src/core/machine/apply.ts";
import type { State } from "../../src/core/machine/state/state.ts";
import { play, type Run } from "./support/run.ts";
import { NO_LIMITS, type Setting, says, usageOf } from "./support/script.ts";

const titled = (setting: Setting = {}) => play({ titles: "model", replies: [says("one")], ...setting });
const countRequests = (run: Run) => run.commands.filter(({ type }) => type === "make-title").length;

/** The state after the request for a title was answered, where Temporal displays titles. */
function answer(run: Run, title: State["title"]): State {
  const state: State = { ...run.state, showsTitle: true, ...(title === undefined ? {} : { title }) };
  const usage = usageOf(7, 3);
  const digest = { branch: state.branch, usage, costUsd: 0.5, title: "By the model" };
  return apply(state, { type: "title-made", digest, atMs: state.nowMs });
}

describe("the request for a title", () => {
  test("follows the first answer, and none follows in the next loop", async () => {
    const run = await titled({ mode: "interactive" }).until("make-title");
    expect(run.command).toMatchObject({ from: 0, answer: 1, maxAttempts: 1 });
    await run.settle();
    await run.prompt("again").settle();
    expect(countRequests(run)).toBe(1);
  });

  test("counts for the loop, and its title replaces the first words but no user's", async () => {
    const run = await titled().until("make-title");
    const before = run.state.loop;
    const after = answer(run, { text: "hi", by: "prompt" });
    expect(after.phase.type).toBe("closing");
    expect(after.title).toEqual({ text: "By the model", by: "model" });
    expect(after.loop?.usage.input).toBe((before?.usage.input ?? 0) + 7);
    expect(after.loop?.costUsd).toBeCloseTo((before?.costUsd ?? 0) + 0.5);
    expect(answer(run, { text: "Mine", by: "user" }).title).toEqual({ text: "Mine", by: "user" });
  });

  test.each([
    ["after a loop that failed", { maxRetries: 0 }, "fail"],
    ["when no tokens are left", { limits: { ...NO_LIMITS, maxTotalTokens: 1 } }, "run"],
    ["unless the definition wants it", { titles: undefined }, "run"],
  ] as const)("is not made %s", async (_, setting, way) => {
    const { titles = "model", ...more } = { titles: "model" as const, ...setting };
    const asked = "titles" in setting ? play(more) : titled({ ...more, titles });
    const run = await (way === "fail" ? asked.until("call-model").fail("api").settle() : asked.settle());
    expect(countRequests(run)).toBe(0);
  });

  test("that fails or is stopped leaves the answer", async () => {
    const failed = await titled().until("make-title").fail("api").settle();
    expect(failed.command).toMatchObject({ type: "finish", last: { outcome: { type: "answered" } } });
    const stopped = await titled().until("make-title");
    await stopped.stop().setBack({ type: "cancelled" }).settle();
    expect(stopped.command).toMatchObject({ type: "finish", last: { outcome: { type: "answered" } } });
  });

  test("is made again after a lost worker, three times at most", async () => {
    const run = await titled().until("make-title").lose();
    expect(run.command).toMatchObject({ type: "make-title", generation: 1 });
    await run.lose("claimed");
    expect(run.command).toMatchObject({ type: "make-title", generation: 2 });
    await run.lose().settle();
    expect(run.command).toMatchObject({ type: "finish", last: { outcome: { type: "answered" } } });
  });
});
