import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createMembers, readConversation } from "./support/job-agents.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;

beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const finish = (summary: string) => ({ toolCalls: [{ name: "finish_work", arguments: { summary } }] });
const sleep = (seconds: number) => ({
  toolCalls: [{ name: "sleep", arguments: { seconds, reason: "the build runs" } }],
});

/** The prompts of its rounds. */
async function prompts(job: string): Promise<readonly string[]> {
  return (await readConversation(stage, `${job}.work`)).filter((line) => line.startsWith("user: "));
}

describe("an autonomous agent", () => {
  test("works until it declares the task done; the text of that call is the result [ORC-02.2]", async () => {
    const { lone } = createMembers(stage, {
      lone: { replies: [finish("All tests pass."), { text: "Bye." }] },
    });
    const job = await holdfast.jobs.start({
      task: "Fix it",
      mode: { type: "autonomous", agent: lone.definition },
    });
    expect(await job.result()).toMatchObject({
      outcome: { type: "answered" },
      text: "All tests pass.",
      rounds: 1,
      parts: [{ name: "work", session: `${job.id}.work` }],
    });
    expect((await readConversation(stage, `${job.id}.work`))[2]).toMatch(
      /^toolResult: Noted: .*End your turn/,
    );
  });

  thoroughTest("sleeps for real, and continues in the same session when the time has passed", async () => {
    const { lone } = createMembers(stage, {
      lone: { replies: [sleep(1), { text: "Zzz" }, finish("ok"), { text: "Bye." }] },
    });
    const job = await holdfast.jobs.start({
      task: "Wait",
      mode: { type: "autonomous", agent: lone.definition },
    });
    expect(await job.result()).toMatchObject({ text: "ok", rounds: 2, turns: 4 });
    expect(await prompts(job.id)).toEqual(["user: Wait", expect.stringContaining("Your sleep is over")]);
    const [first, second] = await stage.transcript.readLoops(`${job.id}.work`);
    const slept = (second?.startedAtMs ?? 0) - (first?.endedAtMs ?? 0);
    expect(slept).toBeGreaterThanOrEqual(900);
  });

  thoroughTest("is woken from a long sleep, with a message or without one", async () => {
    const { lone } = createMembers(stage, {
      lone: {
        replies: [sleep(86_400), { text: "1" }, sleep(86_400), { text: "2" }, finish("up"), { text: "3" }],
      },
    });
    const job = await holdfast.jobs.start({
      task: "Wait",
      mode: { type: "autonomous", agent: lone.definition },
    });
    await eventually(async () => (await job.status()).status === "waiting");
    const { statusText, job: standing } = await job.status();
    expect(statusText).toMatch(/^sleeping until .*: the build runs$/);
    expect(standing?.sleepsUntilMs).toBeGreaterThan(Date.now());
    await job.wake("The build is red.");
    await eventually(async () => {
      const now = await job.status();
      return now.job?.rounds === 2 && now.status === "waiting";
    });
    await job.wake();
    expect(await job.result()).toMatchObject({ text: "up", rounds: 3 });
    expect(await prompts(job.id)).toEqual([
      "user: Wait",
      "user: The build is red.",
      expect.stringContaining("You were woken"),
    ]);
  });

  thoroughTest(
    "a message that arrives while it works is its next prompt, even after it declared the task done",
    async () => {
      const { lone } = createMembers(stage, {
        lone: {
          replies: [finish("first"), { text: "a", holdUntil: "late" }, finish("second"), { text: "b" }],
        },
      });
      const job = await holdfast.jobs.start({
        task: "Go",
        mode: { type: "autonomous", agent: lone.definition },
      });
      await stage.model.waitForHold("late");
      await job.wake("One more thing.");
      stage.model.release("late");
      expect(await job.result()).toMatchObject({ text: "second", rounds: 2 });
      expect(await prompts(job.id)).toEqual(["user: Go", "user: One more thing."]);
    },
  );

  thoroughTest("rounds that do not say how to continue are counted, and end it", async () => {
    const { lone } = createMembers(stage, {
      lone: { replies: [{ text: "hm" }, { text: "hm" }, { text: "hm" }] },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: { type: "autonomous", agent: lone.definition, maxIdleRounds: 2 },
    });
    expect(await job.result()).toMatchObject({
      outcome: { type: "limit-reached", reason: expect.stringContaining("maxIdleRounds 2") },
      rounds: 2,
    });
    expect((await prompts(job.id))[1]).toContain("finish_work");
  });

  test("a sleep resets the count of idle rounds", async () => {
    const { lone } = createMembers(stage, {
      lone: {
        replies: [{ text: "hm" }, sleep(1), { text: "Zzz" }, { text: "hm" }, finish("ok"), { text: "Bye." }],
      },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: { type: "autonomous", agent: lone.definition, maxIdleRounds: 2 },
    });
    expect(await job.result()).toMatchObject({ text: "ok", rounds: 4 });
  });

  thoroughTest("its limits hold over all rounds [SUB-03.3]", async () => {
    const { lone } = createMembers(stage, {
      lone: { replies: Array.from({ length: 9 }, () => ({ text: "hm" })) },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: { type: "autonomous", agent: lone.definition, maxIdleRounds: 9, limits: { maxTurns: 3 } },
    });
    expect(await job.result()).toMatchObject({
      outcome: { type: "limit-reached", reason: "Budget of turns reached: none left of 3 (3 spent)" },
      turns: 3,
      rounds: 3,
    });
    expect(lone.listRequests()).toHaveLength(3);
  });

  thoroughTest("a stop ends its sleep, and its work", async () => {
    const { lone } = createMembers(stage, { lone: { replies: [sleep(86_400), { text: "Zzz" }] } });
    const job = await holdfast.jobs.start({
      task: "Wait",
      mode: { type: "autonomous", agent: lone.definition },
    });
    await eventually(async () => (await job.status()).status === "waiting");
    await job.stop("enough");
    expect(await job.result()).toMatchObject({ outcome: { type: "stopped", reason: "enough" } });
  });

  thoroughTest("continues as new between rounds, and keeps both its account and its position", async () => {
    const says = Array.from({ length: 8 }, () => ({ text: "hm" }));
    const { lone } = createMembers(stage, { lone: { replies: [...says, finish("long"), { text: "." }] } });
    const link = await connectClient(stage, { rotateAfterEvents: 24 });
    const job = await link.jobs.start({
      task: "Go",
      mode: { type: "autonomous", agent: lone.definition, maxIdleRounds: 20 },
    });
    expect(await job.result()).toMatchObject({ text: "long", rounds: 9, turns: 10 });
    expect((await stage.client.workflow.getHandle(job.id).describe()).runId).not.toBe(job.runId);
    await link.close();
  });
});
