import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createMembers, readConversation } from "./support/job-agents.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;

beforeAll(async () => {
  stage = await openTestEnvironment({
    registered: {
      reducers: {
        loud: (parts) => parts.map(({ agent, text }) => `${agent}:${text?.toUpperCase()}`).join("|"),
        broken: () => {
          throw new Error("no idea");
        },
      },
    },
  });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

describe("a fan-out", () => {
  test("gives one task to many agents, and lists their answers in order [ORC-03.1]", async () => {
    const { red, green } = createMembers(stage, {
      red: { replies: [{ text: "R" }] },
      green: { replies: [{ text: "G" }] },
    });
    const job = await holdfast.jobs.start({
      task: "Which colour?",
      mode: { type: "fan-out", agents: [red.definition, green.definition] },
    });
    const result = await job.result();
    expect(result).toMatchObject({
      outcome: { type: "answered" },
      text: "1. red: R\n\n2. green: G",
      turns: 2,
    });
    expect(await readConversation(stage, `${job.id}.part-2`)).toEqual([
      "user: Which colour?",
      "assistant: G",
    ]);
    expect(await stage.transcript.readText(result.ref ?? "")).toBe(result.text);
    const sessions = result.parts.map(({ session }) => holdfast.session(session));
    expect(await Promise.all(sessions.map((session) => session.result()))).toMatchObject([
      { text: "R", turns: 1 },
      { text: "G", turns: 1 },
    ]);
  });

  thoroughTest("gives many tasks to one agent, within its concurrency", async () => {
    const { worker } = createMembers(stage, { worker: { replies: [{ text: "ok", holdUntil: "both" }] } });
    const job = await holdfast.jobs.start({
      task: "Paris",
      mode: {
        type: "fan-out",
        agents: [worker.definition],
        tasks: ["Weather of {{task}}?", "Mayor of {{task}}?", "Rivers?"],
        concurrency: 2,
      },
    });
    await worker.waitForRequest(1);
    const { job: standing } = await job.status();
    expect(standing?.parts.map(({ status }) => status)).toEqual(["running", "running", "waiting"]);
    stage.model.release("both");
    expect(await job.result()).toMatchObject({ text: "1. worker: ok\n\n2. worker: ok\n\n3. worker: ok" });
    const asked = await Promise.all(
      [1, 2, 3].map((part) => readConversation(stage, `${job.id}.part-${part}`)),
    );
    expect(asked.map(([first]) => first)).toEqual([
      "user: Weather of Paris?",
      "user: Mayor of Paris?",
      "user: Rivers?",
    ]);
  });

  test("a part that fails is an outcome, and the others stay", async () => {
    const { good, bad } = createMembers(stage, {
      good: { replies: [{ text: "fine" }] },
      bad: { replies: [], faults: [{ fault: "auth" }] },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: { type: "fan-out", agents: [bad.definition, good.definition], reducer: "first" },
    });
    expect(await job.tryResult()).toMatchObject({
      outcome: { type: "answered" },
      text: "fine",
      parts: [{ outcome: { type: "failed", fault: "auth" } }, { outcome: { type: "answered" } }],
    });
  });

  thoroughTest("when no part has an answer, it fails with the reason", async () => {
    const { bad } = createMembers(stage, { bad: { replies: [], faults: [{ fault: "auth" }] } });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: { type: "fan-out", agents: [bad.definition] },
    });
    expect(await job.tryResult()).toMatchObject({
      outcome: { type: "failed", fault: "no-answer", message: expect.stringContaining("auth") },
    });
  });

  for (const [reducer, text, declare] of [
    ["vote", "yes", thoroughTest],
    ["longest", "No, not at all", thoroughTest],
    ["loud", "a:NO, NOT AT ALL|b:YES|c:YES.", test],
  ] as const)
    declare(`the reducer ${reducer} gives ${text}`, async () => {
      const { a, b, c } = createMembers(stage, {
        a: { replies: [{ text: "No, not at all" }] },
        b: { replies: [{ text: "yes" }] },
        c: { replies: [{ text: "Yes." }] },
      });
      const job = await holdfast.jobs.start({
        task: "Is it?",
        mode: { type: "fan-out", agents: [a.definition, b.definition, c.definition], reducer },
      });
      expect(await job.result()).toMatchObject({ text });
    });

  thoroughTest.each([
    [
      "lsit",
      'This worker has no reducer "lsit"; it has list, first, longest, vote, broken, loud; did you mean "list"?',
    ],
    ["broken", 'The reducer "broken" failed: no idea'],
  ])("the reducer %s fails the job, whose parts keep their answers", async (reducer, message) => {
    const { a } = createMembers(stage, { a: { replies: [{ text: "kept" }] } });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: { type: "fan-out", agents: [a.definition], reducer },
    });
    expect(await job.tryResult()).toMatchObject({
      outcome: { type: "failed", message: expect.stringContaining(message) },
      parts: [{ outcome: { type: "answered" } }],
    });
  });

  test("its limits are divided, and a part without a share does not begin [SUB-03.3]", async () => {
    const { a } = createMembers(stage, { a: { replies: [{ text: "one turn" }] } });
    const job = await holdfast.jobs.start({
      mode: {
        type: "fan-out",
        agents: [a.definition],
        tasks: ["1", "2", "3"],
        concurrency: 1,
        limits: { maxTurns: 2 },
        reducer: "list",
      },
    });
    const { parts, turns } = await job.result();
    expect(turns).toBe(2);
    expect(parts.map(({ outcome }) => outcome?.type)).toEqual(["answered", "answered", "limit-reached"]);
  });

  thoroughTest("a stop ends the active parts, and begins no other", async () => {
    const { a } = createMembers(stage, { a: { replies: [{ text: "never", holdUntil: "stopped-part" }] } });
    const job = await holdfast.jobs.start({
      mode: { type: "fan-out", agents: [a.definition], tasks: ["1", "2"], concurrency: 1 },
    });
    await stage.model.waitForHold("stopped-part");
    await job.stop("enough");
    expect(await job.result()).toMatchObject({
      outcome: { type: "stopped", reason: "enough" },
      parts: [{ outcome: { type: "stopped" } }, { name: "part-2" }],
    });
    expect(a.listRequests()).toHaveLength(1);
  });
});
